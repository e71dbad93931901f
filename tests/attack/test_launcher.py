"""A control plane that was taken over sends hostile requests to the process that keeps root."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.launch.channel import Channel
from deskhand.desktop.launch_port.exec_launch import LaunchConfiguration
from deskhand.desktop.launch_port.keeper_records import KeeperRecords
from deskhand.tools.fleet.launcher_client import ENTRY
from deskhand.tools.launcher.launcher import LauncherConfiguration
from deskhand.tools.launcher.requests import LONGEST_REQUEST
from tests.system.services import PATIENCE, until

pytestmark = [pytest.mark.attack, pytest.mark.root]

Json = dict[str, Any]

OWN, OTHERS, DEAD, FREE = "aaaaaaaa", "bbbbbbbb", "deaddead", "0123abcd"
RECORDING = "a1111111-2222-3333-4444-555555555555"
OPEN = {"mode": "open", "allow": [], "grants": [], "required": True}
START = {
    **{"do": "start", "id": FREE, "egress": OPEN, "display": False, "speak": [], "options": []}
}


@dataclass
class Attacked:
    """A launcher with a desktop that runs, one of another control plane, and a dead one."""

    root: Path
    process: subprocess.Popen[bytes]
    end: socket.socket
    desktops: dict[str, subprocess.Popen[bytes]]

    def ask(self, data: bytes | Json, descriptors: Sequence[int] = ()) -> tuple[Json, list[int]]:
        encoded = data if isinstance(data, bytes) else json.dumps(data).encode()
        socket.send_fds(self.end, [encoded], list(descriptors))
        return Channel(self.end).receive()

    def refused(self, data: bytes | Json, descriptors: Sequence[int] = ()) -> str:
        """Send a request that must be refused; return the reason."""
        answer, passed = self.ask(data, descriptors)
        assert answer.keys() in ({"refused"}, {"error", "number"}), answer
        assert not passed
        return str(answer.get("refused") or answer["error"])

    def recording(self, desktop_id: str = DEAD) -> Path:
        return self.root / desktop_id / "recordings" / RECORDING

    def assert_unharmed(self) -> None:
        """Check that all is as it was, and that the launcher answers."""
        for desktop in self.desktops.values():
            assert desktop.poll() is None
        answer, _ = self.ask({"do": "list"})
        assert {name: one["state"] for name, one in answer["desktops"].items()} == {
            OWN: "runs",
            DEAD: "dead",
        }
        assert (self.root.parent / "secret").read_text() == "of root"
        for name in (OWN, OTHERS, DEAD):
            assert (self.recording(name) / "1.mp4").read_bytes() == b"video"
        assert (self.root / "work" / "chat" / "notes").exists()
        assert not (self.root / FREE).exists()

    def descriptors(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


@pytest.fixture
def attacked() -> Iterator[Attacked]:
    folder = Path(tempfile.mkdtemp(prefix="deskhand-", dir="/tmp"))
    root = folder / "desktops"
    desktops = {name: subprocess.Popen(["sleep", "1000"]) for name in (OWN, OTHERS)}
    (folder / "secret").parent.mkdir(exist_ok=True)
    (folder / "secret").write_text("of root")
    for name in (OWN, OTHERS, DEAD):
        recording = root / name / "recordings" / RECORDING
        recording.mkdir(parents=True)
        (recording / "1.mp4").write_bytes(b"video")
    (root / "work" / "chat").mkdir(parents=True)
    (root / "work" / "chat" / "notes").touch()
    KeeperRecords(root, "/data").add(OWN, desktops[OWN].pid)
    KeeperRecords(root, "/data of others").add(OTHERS, desktops[OTHERS].pid)
    with subprocess.Popen(["true"]) as ended:
        KeeperRecords(root, "/data").add(DEAD, ended.pid)
    configuration = LauncherConfiguration(
        "/data", LaunchConfiguration(str(root), str(root / "work"))
    )
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(3 * PATIENCE)
    command = [sys.executable, "-S", "-E", str(ENTRY), str(theirs.fileno())]
    with theirs:
        process = subprocess.Popen(
            [*command, json.dumps(asdict(configuration))],
            pass_fds=(theirs.fileno(),),
            env={"PATH": os.defpath},
        )
    try:
        # Its first message: it is ready.
        assert Channel(ours).receive() == ({}, [])
        made = Attacked(root, process, ours, desktops)
        made.assert_unharmed()
        yield made
    finally:
        ours.close()
        process.wait(3 * PATIENCE)
        for desktop in desktops.values():
            desktop.kill()
            desktop.wait()
        subprocess.run(["rm", "-rf", str(folder)], check=True)


PATHS = ("..", "../..", "/etc", "../secret", "./" + OWN, f"{OWN}/../{OTHERS}", f"{OWN}\0", "", "~")
HOSTILE: list[Json] = [
    *({"do": command, "id": path} for command in ("stop", "kill", "remove") for path in PATHS),
    *({"do": "open", "id": path, "recording": RECORDING, "file": "1.mp4"} for path in PATHS),
    *({"do": "open", "id": DEAD, "recording": path, "file": "1.mp4"} for path in PATHS),
    *({"do": "open", "id": DEAD, "recording": RECORDING, "file": path} for path in PATHS),
    *({"do": "remove", "id": DEAD, "recording": path} for path in PATHS),
    *({"do": "remove", "workdir": path} for path in PATHS),
    *({"do": command, "id": 1} for command in ("stop", "kill", "remove")),
    *({"do": command, "id": [OWN]} for command in ("stop", "kill", "remove")),
    # Those of another control plane, and those that run.
    *({"do": command, "id": OTHERS} for command in ("stop", "kill", "remove")),
    *({"do": "open", "id": one, "recording": RECORDING, "file": "1.mp4"} for one in (OWN, OTHERS)),
    *({"do": "remove", "id": one, "recording": RECORDING} for one in (OWN, OTHERS)),
    {"do": "remove", "id": OWN},
    # Commands that there are not, and fields that no command has.
    *({"do": one} for one in ("exec", "", "START", "list ")),
    {"do": None},
    {"do": 1},
    {"do": ["list"]},
    {},
    {"do": "stop", "id": OWN, "signal": 9},
    {"do": "kill", "pid": 1},
    {"do": "list", "root": "/"},
    {"do": "open", "path": "/etc/shadow"},
]


def test_hostile_arguments_are_refused_and_harm_nothing(attacked: Attacked) -> None:
    before = attacked.descriptors()
    for request in HOSTILE:
        assert attacked.refused(request), request
    attacked.assert_unharmed()
    assert attacked.descriptors() == before
    # The control: the same commands with proper arguments work.
    answer, (descriptor,) = attacked.ask(
        {"do": "open", "id": DEAD, "recording": RECORDING, "file": "1.mp4"}
    )
    with os.fdopen(descriptor, "rb") as file:
        assert (answer, file.read()) == ({}, b"video")
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.write(file.fileno(), b"x")
    assert attacked.ask({"do": "kill", "id": OWN}) == ({}, [])
    attacked.desktops[OWN].wait(PATIENCE)
    assert attacked.ask({"do": "remove", "id": DEAD, "recording": RECORDING})[0]["removed"]
    assert not (attacked.root / DEAD).exists()


WRONG_EGRESS: list[Any] = [None, "open", [], {}, {**OPEN, "mode": "root"}]
STARTS: list[Json] = [
    *({**START, "id": one} for one in ("..", "../x", "/x", f"{FREE}\0", 1, None, OWN, OTHERS)),
    *({**START, "workdir": one} for one in ("..", "../data", "/etc", "a/b", "-x", "a\0b", 7)),
    *({**START, name: "/bin/sh"} for name in ("argv", "command", "environment", "folder", "user")),
    *({**START, "egress": one} for one in WRONG_EGRESS),
    {**START, "egress": {**OPEN, "mode": "list", "allow": ["--user", "root"]}},
    {**START, "egress": {**OPEN, "grants": ["--user=root"]}},
    {**START, "display": "on-request --user root"},
]


def test_hostile_starts_are_refused_and_start_nothing(attacked: Attacked) -> None:
    before = attacked.descriptors()
    with Path("/dev/null").open() as null:
        passed = [null.fileno()] * 4
        for request in STARTS:
            assert attacked.refused(request, passed), request
        for number in (0, 1, 3, 5, 16):
            assert "descriptors" in attacked.refused(START, passed[:1] * number)
        # The kernel passes up to 253 at once; those that find no place are closed.
        with suppress(OSError):
            assert attacked.refused({"do": "list"}, [null.fileno()] * 200)
    children = Path(f"/proc/{attacked.process.pid}/task/{attacked.process.pid}/children")
    assert children.read_text() == ""
    attacked.assert_unharmed()
    assert attacked.descriptors() == before


def test_links_in_the_folder_of_a_dead_desktop_lead_nowhere(attacked: Attacked) -> None:
    secret, recording = attacked.root.parent / "secret", attacked.recording()
    (recording / "2.mp4").symlink_to(secret)
    (recording / "3.mp4").hardlink_to(secret)
    os.mkfifo(recording / "4.mp4")
    (recording / "5.mp4").mkdir()
    (recording / "6.mp4").symlink_to("1.mp4")
    linked = recording.with_name(RECORDING.replace("a", "b"))
    linked.symlink_to(attacked.recording(OTHERS))
    for number in range(2, 7):
        request = {"do": "open", "id": DEAD, "recording": RECORDING, "file": f"{number}.mp4"}
        assert attacked.refused(request), number
    request = {"do": "open", "id": DEAD, "recording": linked.name, "file": "1.mp4"}
    assert attacked.refused(request)
    # A link is removed itself.
    assert attacked.ask({"do": "remove", "id": DEAD, "recording": linked.name}) == (
        {"removed": False},
        [],
    )
    assert not linked.is_symlink()
    attacked.assert_unharmed()


def test_a_link_in_the_place_of_the_recordings_is_not_followed(attacked: Attacked) -> None:
    recordings = attacked.recording().parent
    recordings.rename(recordings.with_name("moved"))
    recordings.symlink_to(attacked.recording(OTHERS).parent)
    request = {"do": "open", "id": DEAD, "recording": RECORDING, "file": "1.mp4"}
    assert attacked.refused(request)
    assert attacked.ask({"do": "list"})[0]["desktops"][DEAD]["recordings"] == {}
    recordings.unlink()
    recordings.with_name("moved").rename(recordings)
    attacked.assert_unharmed()


@pytest.mark.parametrize(
    "data",
    [
        *(b"{", b'{"do": "kill", "id": "aaaa', b"\xff\xfe\0\0", b"\0" * 100, b"[" * 30_000),
        b'{"do": "list"}'.ljust(LONGEST_REQUEST + 1),
        b"x" * 150_000,
    ],
    ids=["brace", "half", "bytes", "nul", "nested", "long", "huge"],
)
def test_what_is_no_request_is_refused(attacked: Attacked, data: bytes) -> None:
    assert attacked.refused(data)
    attacked.assert_unharmed()


def test_half_a_message_and_the_end_leave_the_desktops_alone(attacked: Attacked) -> None:
    attacked.end.send(b'{"do": "kill", "id": "aaaa')
    attacked.end.close()
    assert attacked.process.wait(3 * PATIENCE) == 0
    for desktop in attacked.desktops.values():
        assert desktop.poll() is None
    assert attacked.recording().exists()


@pytest.mark.slow("ten thousand requests")
def test_ten_thousand_requests_cost_the_launcher_nothing(attacked: Attacked) -> None:
    def memory() -> int:
        status = Path(f"/proc/{attacked.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])

    requests = [json.dumps(request).encode() for request in HOSTILE]
    file = {"do": "open", "id": DEAD, "recording": RECORDING, "file": "1.mp4"}
    for data in requests:
        attacked.refused(data)
    before, descriptors = memory(), attacked.descriptors()
    for number in range(10_000):
        if number % 10:
            attacked.refused(requests[number % len(requests)])
        else:
            os.close(attacked.ask(file)[1][0])
    assert memory() < before + 4096
    assert attacked.descriptors() == descriptors
    attacked.assert_unharmed()


def test_it_ends_with_the_control_plane_and_not_by_the_signal_of_a_service_manager(
    attacked: Attacked,
) -> None:
    attacked.process.terminate()
    attacked.assert_unharmed()
    attacked.end.close()
    until(lambda: attacked.process.poll() is not None, "the end of the launcher")
