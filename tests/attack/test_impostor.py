"""An agent waits at the places at which other programs send the tokens of services."""

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.attack.attackers import output
from tests.system.services import DESKHAND, PATIENCE, Service, service, until

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the level is 'shared' here"),
]

IMPOSTOR = Path(__file__).parents[1] / "data" / "impostor.py"


class Impostor:
    """A program of an agent; it notes what it has bound, and what it has received."""

    def __init__(self, home: Path, names: Sequence[str]) -> None:
        self.script, self._seen, self._own = home / "fake.py", home / "seen", home / "own.sock"
        self.command = shlex.join(
            ["/usr/bin/python3", str(self.script), str(self._seen), *names, str(self._own)]
        )

    @property
    def lines(self) -> list[str]:
        return self._seen.read_text().splitlines() if self._seen.exists() else []

    def check_own(self) -> str:
        """Return the control: a command that connects to the impostor's own socket."""
        script = (
            "import socket; s = socket.socket(socket.AF_UNIX); "
            f"s.connect({str(self._own)!r}); s.sendall(b'hello'); s.recv(100)"
        )
        return f"/usr/bin/python3 -c {shlex.quote(script)}"

    def bound(self) -> set[str]:
        """Return the places that it has taken, without its own."""
        found = {line.split()[1] for line in self.lines if line.startswith("bound")}
        assert str(self._own) in found
        return found - {str(self._own)}

    def received(self) -> list[str]:
        """Return the places at which it has received something, without its own."""
        found = [line.split()[1] for line in self.lines if line.startswith("received")]
        assert str(self._own) in found
        return [one for one in found if one != str(self._own)]


class Plane:
    """A control plane, and the desktop of the chat of its token."""

    def __init__(self, service_: Service) -> None:
        self.service = service_
        self.home = Path(self.run("echo $HOME"))
        self.port = service_.url.rpartition(":")[2]
        self.data = Path(service_.get("/api/v0/status")["data_dir"])

    def run(self, command: str, *, background: bool = False) -> str:
        body = {"command": command, "run_in_background": background}
        answer = self.service.http.post("/api/v0/tools/execute", json=body, timeout=PATIENCE * 2)
        assert answer.is_success, answer.text
        return str(answer.json()["result"].get("output", "")).strip()

    def impostor(self, *names: str) -> Impostor:
        """Start an impostor, and wait for its first attempts."""
        found = Impostor(self.home, names)
        found.script.write_bytes(IMPOSTOR.read_bytes())
        found.script.chmod(0o644)
        self.run(f"exec {found.command}", background=True)
        until(lambda: "tried" in found.lines, "the first attempts")
        self.run(found.check_own())
        return found


@contextmanager
def plane(folder: Path) -> Iterator[Plane]:
    arguments = ("up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
    with service(folder / "errors.log", *arguments) as found:
        yield Plane(found)


def test_a_fake_service_receives_nothing_of_its_control_plane(tmp_path: Path) -> None:
    with plane(tmp_path) as found:
        folder = found.home.parent
        places = (
            folder.parent / "sockets" / f"{folder.name}.sock",
            *(folder / name for name in ("api.sock", "run/api.sock", "run/service/api.sock")),
        )
        assert places[0].is_socket()
        names = [text for place in places for text in (str(place), f"@{place}")]
        impostor = found.impostor(*names, f"tcp:{found.port}")
        desktop = f"/api/v0/desktops/{folder.name}/desktop"
        assert found.service.http.get(f"{desktop}/screenshot").status_code == 200
        assert found.run("echo hello") == "hello"
        # Abstract names are free, but no program connects to them.
        assert {name for name in impostor.bound() if not name.startswith("@")} == set()
        assert impostor.received() == []


def test_a_fake_control_plane_receives_no_token(tmp_path: Path) -> None:
    with plane(tmp_path) as found:
        impostor = found.impostor(f"tcp:{found.port}")
        found.service.process.send_signal(signal.SIGKILL)
        found.service.process.wait()
        until(lambda: f"tcp:{found.port}" in impostor.bound(), "the port of the control plane")
        record = found.data / "run" / "plane.json"
        text = record.read_text()
        # Pids are used again: a program that starts others gets that of the control plane.
        record.write_text(json.dumps({**json.loads(text), "pid": pid_of(impostor)}))
        link = [DESKHAND, "url", "--data-dir", str(found.data)]
        asked = subprocess.run(link, capture_output=True, text=True, check=False)
        record.write_text(text)
    # The next control plane ends the desktop.
    with plane(tmp_path):
        assert impostor.received() == []
        assert (asked.returncode, asked.stdout) == (4, "")
        assert "no control plane runs here" in asked.stderr


def pid_of(impostor: Impostor) -> int:
    """Return the pid on the host."""
    script = str(impostor.script)
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if script in words and "sh" not in words:
            return int(process.pid)
    raise AssertionError("the impostor has ended")


def test_a_desktop_without_a_control_plane_has_its_socket_out_of_reach(tmp_path: Path) -> None:
    with service(tmp_path / "errors.log", "desktop", "--listen", "unix:") as found:
        home = Path(output(found, "echo $HOME"))
        path = home.parent / "run" / "service" / "api.sock"
        assert found.url == f"unix:{path}"
        impostor = Impostor(home, [str(path), f"@{path}"])
        body = IMPOSTOR.read_bytes()
        found.http.post("/api/v0/write-file", params={"path": str(impostor.script)}, content=body)
        command = {"command": f"exec {impostor.command}", "background": True}
        found.post("/api/v0/processes/start", command)
        until(lambda: "tried" in impostor.lines, "the first attempts")
        output(found, impostor.check_own())
        assert found.get("/api/v0/desktop")["display"]
        assert {name for name in impostor.bound() if not name.startswith("@")} == set()
        assert impostor.received() == []
        for attempt in (f"rm {path}", f"mv {path} {path}.x", f"ls {path}", f"ls {path.parent}"):
            assert "Permission denied" in output(found, attempt)
    assert not path.exists()
