"""An agent tries to read, change or end what its desktop's service has: evidence of its work."""

import io
import json
import os
import shlex
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import av
import psutil
import pytest

from tests.attack.attackers import output
from tests.live_trees import owners_below, paths_below, statuses_below
from tests.system.services import Service, service, service_pid, until

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the level is 'shared' here"),
]

SCRIPT = Path(__file__).parents[1] / "data" / "evidence_attack.py"
IMPOSTOR = Path(__file__).parents[1] / "data" / "impostor.py"
STATUS = "/api/v0/desktop"
FOR_AGENTS = ("bin", "libexec", "share", "processes", "run/display")
"""Directories of the service whose files commands may read."""


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path / "errors.log", "desktop") as found:
        yield found


def folder_of(desktop: Service) -> Path:
    return Path(output(desktop, "echo $HOME")).parent


def recorded(desktop: Service) -> str:
    """Start a recording with one step; return its id."""
    name = {"recording_id": str(uuid4())}
    desktop.post(f"{STATUS}/recording/start", name)
    desktop.act(action="mouse_move", coordinate=[5, 5])
    return name["recording_id"]


def check_playable(desktop: Service, recording: str) -> None:
    """End a recording and decode its video."""
    desktop.post(f"{STATUS}/recording/stop", {"recording_id": recording})
    video = desktop.http.get(f"{STATUS}/recordings/{recording}/video")
    assert video.status_code == 200, video.text
    with av.open(io.BytesIO(video.content), "r") as opened:
        assert sum(1 for _ in opened.decode(video=0)) > 0


class Owned:
    """The files and the processes of one of a desktop's users, by walking what exists.

    By default it is the service's user.
    """

    def __init__(self, desktop: Service, folder: Path, user: int | None = None) -> None:
        self.service = service_pid(desktop.ready["pid"])
        self.user = psutil.Process(self.service).uids().real if user is None else user
        self.paths = {
            str(path.relative_to(folder)): kind_of(status)
            for path, status in statuses_below(folder).items()
            if status.st_uid == self.user and path.name != "agent.sock"
        }
        self.pids = {
            inner: pid
            for pid, user in owners_below(desktop.ready["pid"]).items()
            if user == self.user and (inner := inside(pid))
        }

    def targets(self) -> str:
        return json.dumps({"paths": self.paths, "pids": sorted(self.pids)})


def kind_of(status: os.stat_result) -> str:
    mode = status.st_mode
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def inside(pid: int) -> int | None:
    """Return the pid that a process has in its own namespace, None once it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(status.partition("\nNSpid:")[2].partition("\n")[0].split()[-1])


def name_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def is_for_agents(path: str) -> bool:
    return any(path == one or path.startswith(f"{one}/") for one in FOR_AGENTS)


def test_nothing_of_the_service_can_be_read_changed_or_ended(desktop: Service) -> None:
    folder, recording = folder_of(desktop), recorded(desktop)
    script = folder / "work" / "attack.py"
    desktop.http.post(
        "/api/v0/write-file", params={"path": str(script)}, content=SCRIPT.read_bytes()
    ).raise_for_status()
    found = Owned(desktop, folder)
    assert {"recordings", "logs", "journals", "run/service/rfb.sock"} <= found.paths.keys()
    assert len(found.pids) >= 4
    command = f"/usr/bin/python3 {script} {folder} {found.user}"
    printed = output(desktop, f"echo {shlex.quote(found.targets())} | {command}")
    succeeded = [one for one in json.loads(printed) if not permitted(*one)]
    assert succeeded == []
    check_playable(desktop, recording)
    check_control(found, folder)


def permitted(what: str, target: str) -> bool:
    return what == "read" and is_for_agents(target)


def check_control(found: Owned, folder: Path) -> None:
    """Make the same attacks as the service's user, in its namespaces: they succeed."""
    user = str(found.user)
    # The recording has ended, and with it some of its files.
    paths = {name: kind for name, kind in found.paths.items() if os.path.lexists(folder / name)}
    attacked = subprocess.run(
        [
            *("nsenter", "-t", str(found.service), "-m", "-p", "--"),
            *("setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"),
            *("/usr/bin/python3", "-c", SCRIPT.read_text(), str(folder), user),
        ],
        input=found.targets(),
        capture_output=True,
        text=True,
        check=True,
    )
    succeeded: set[tuple[str, str]] = {tuple(one) for one in json.loads(attacked.stdout)}
    for name, kind in paths.items():
        assert ("read", name) in succeeded or kind == "other", name
        # Root owns the directories above the others, and new files may be in a directory.
        below = ("/" in name and not name.startswith("run/")) or name.count("/") > 1
        if below and kind != "folder":
            assert ("unlink", name) in succeeded, name
    # A program of the service may have ended.
    pids = {own for own, pid in found.pids.items() if inside(pid) == own}
    for own in pids:
        assert ("signal", str(own)) in succeeded
    # The memory of the service and of the filter is closed to their user, too (PR_SET_DUMPABLE).
    others = {own for own in pids if name_of(found.pids[own]) != "x-filter"}
    others -= {inside(found.service)}
    assert others
    for what in ("ptrace", "environ", "maps", "mem", "fd", "root/"):
        assert {pid for pid in others if (what, str(pid)) in succeeded} == others, what


def test_removing_everything_during_a_recording_loses_nothing(desktop: Service) -> None:
    recording = recorded(desktop)
    folder = folder_of(desktop) / "recordings"
    before = {path for path in paths_below(folder) if path.is_file()}
    assert before
    output(desktop, "rm -rf $HOME/.. /tmp/* /dev/shm/* $HOME/../recordings; true")
    assert {path for path in before if path.exists()} == before
    desktop.act(action="mouse_move", coordinate=[50, 50])
    check_playable(desktop, recording)
    # Control: the agent's own files are gone.
    assert output(desktop, "ls -A $HOME/../work") == ""


def test_a_recording_outlives_all_processes_of_the_agent(desktop: Service) -> None:
    recording = recorded(desktop)
    pid = desktop.get(STATUS)["xserver"]["pid"]
    body = {"command": "sleep 1000", "background": True}
    victim = desktop.post("/api/v0/processes/start", body)["id"]
    # Of its last signal a command cannot report.
    desktop.post("/api/v0/processes/start", {"command": "kill -9 -1", "background": True})
    ended = desktop.get(f"/api/v0/processes/{victim}/output?wait=true")
    assert not ended["running"]
    assert desktop.get(STATUS)["xserver"]["pid"] == pid
    check_playable(desktop, recording)


def restarted(desktop: Service) -> None:
    """Kill the X server, and wait for its successor."""
    before: int = desktop.get(STATUS)["xserver"]["pid"]
    os.kill(before, signal.SIGKILL)

    def changed() -> Any:
        found = desktop.get(STATUS)["xserver"]
        return found["running"] and found["pid"] not in (None, before)

    until(changed, "the next X server")


def test_an_impostor_of_the_x_server_or_the_service_receives_nothing(desktop: Service) -> None:
    folder = folder_of(desktop)
    script, seen = folder / "work" / "impostor.py", folder / "work" / "seen"
    desktop.http.post(
        "/api/v0/write-file", params={"path": str(script)}, content=IMPOSTOR.read_bytes()
    ).raise_for_status()
    number = desktop.get(STATUS)["display"].removeprefix(":")
    names = [
        f"/tmp/.X11-unix/X{number}",
        f"@/tmp/.X11-unix/X{number}",
        str(folder / "run" / "service" / "rfb.sock"),
        str(folder / "run" / "agent.sock"),
        str(folder / "work" / "control.sock"),
    ]
    command = f"exec /usr/bin/python3 {script} {seen} {shlex.join(names)}"
    desktop.post("/api/v0/processes/start", {"command": command, "background": True})
    until(lambda: seen.exists() and "tried" in seen.read_text(), "the first attempts")
    restarted(desktop)
    assert desktop.http.get(f"{STATUS}/screenshot").status_code == 200
    own = folder / "work" / "control.sock"
    output(desktop, f"echo hello | socat - UNIX-CONNECT:{own} 2>/dev/null || {greeting(own)}")
    until(lambda: "control.sock" in seen.read_text(), "the control")
    bound = {line.split()[1] for line in seen.read_text().splitlines() if line != "tried"}
    assert bound == {str(own)}


def greeting(path: Path) -> str:
    script = (
        "import socket; s = socket.socket(socket.AF_UNIX); "
        f"s.connect('{path}'); s.sendall(b'hello')"
    )
    return f"/usr/bin/python3 -c {shlex.quote(script)}"
