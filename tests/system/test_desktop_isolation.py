"""Limits of a command on a desktop, when each desktop has a user of its own."""

import os
import pwd
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from tests.live_trees import paths_below
from tests.system.services import DESKHAND, PATIENCE, Service, service, service_pid, x_display

pytestmark = [
    pytest.mark.x11,
    # Not root: everything runs as the user of the service, and the status shows it.
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the level is 'shared' here"),
]


ROOT = Path(__file__).parents[2]
KEEPER = "deskhand/desktop/launch/__main__.py"
SHOW_ALL = (
    'for path; do { cat "$path" || ls "$path"; } 2>&1 | grep -v "No such file or directory"; done'
)
"""Prints what there is of the paths in $@, and each error but that a path does not exist."""
AT_ONCE = 100
"""Paths in one command."""
LATE = (
    *("deskhand.desktop.dialects", "deskhand.desktop.service.dialects", "deskhand.desktop.openapi"),
    *("deskhand.desktop.mcp.calls", "mcp."),
)
"""Prefixes of modules that are loaded when they are needed first."""


FIRST_FRAME = """
import sys
from pathlib import Path
from deskhand.desktop.capture.framebuffer import Framebuffer
with Framebuffer(sys.argv[1], Path(sys.argv[2])) as screen:
    print(screen.shared_memory, bool(screen.frame().pixels[..., :3].any()))
"""


class Neighbours(NamedTuple):
    """Two desktops, and the file with the first one's token.

    The other one is installed where only root can read, as in root's home.
    """

    one: Service
    other: Service
    token: Path


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neighbours]:
    folder = tmp_path_factory.mktemp("isolation")
    token = folder / "token"
    token.write_text("dh_of-the-first\n")
    token.chmod(0o600)
    with (
        service(folder / "one.log", "desktop", "--token-file", str(token)) as one,
        out_of_sight(folder / "closed", folder / "other.log", "--speak", "osworld,cdp") as other,
    ):
        yield Neighbours(one, other, token)


def out_of_sight(closed: Path, log: Path, *arguments: str) -> AbstractContextManager[Service]:
    """Run a desktop whose packages, own and foreign, its user cannot read."""
    closed.mkdir(mode=0o700)
    (closed / "ours").symlink_to(ROOT)
    (closed / "libraries").symlink_to(Path(psutil.__file__).parents[1])
    path = f"{closed / 'ours'}:{closed / 'libraries'}"
    keeper = (sys.executable, "-S", "-E", str(closed / "ours" / KEEPER))
    command = (*keeper, sys.executable, "-S", "-P", "-m", "deskhand.desktop")
    return service(log, *arguments, program=command, environment={"PYTHONPATH": path})


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/viewer/viewer.js",
        "/login",
        "/openapi.json",
        "/api/v0/desktop",
        "/api/v0/desktop/screenshot?format=webp",
        "/api/v0/desktop/screenshot?format=jpeg",
        "/api/v0/desktop/windows",
    ],
)
def test_a_desktop_needs_none_of_its_own_files_once_it_is_served(
    neighbours: Neighbours, path: str
) -> None:
    assert neighbours.other.http.get(path).status_code == 200


def test_mcp_and_the_openapi_document_are_loaded_by_the_first_request(
    neighbours: Neighbours,
) -> None:
    listed = neighbours.other.http.post(
        "/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        headers={"Accept": "application/json, text/event-stream"},
    )
    assert "computer_look" in listed.text
    document = neighbours.other.get("/openapi.json")
    shot = document["paths"]["/api/v0/desktop/screenshot"]["get"]
    assert shot["operationId"] == "take_screenshot"


@pytest.mark.parametrize("path", ["osworld/platform", "osworld/screenshot"])
def test_a_dialect_that_is_on_needs_none_of_its_own_files(
    neighbours: Neighbours, path: str
) -> None:
    assert neighbours.other.http.get(f"/api/v0/desktop/as/{path}").status_code == 200


def test_a_first_screenshot_loads_neither_dialects_nor_mcp_nor_openapi(tmp_path: Path) -> None:
    log, times = tmp_path / "errors.log", {"PYTHONPROFILEIMPORTTIME": "1"}
    with service(log, "desktop", environment=times, program=(DESKHAND,)) as desktop:
        assert desktop.http.get("/api/v0/desktop/screenshot").status_code == 200
        before = imported(desktop)
        assert "deskhand.desktop.service.routes" in before
        assert not [name for name in before if name.startswith(LATE)]
        desktop.get("/openapi.json")
        assert "deskhand.desktop.openapi.screen" in imported(desktop)


def imported(desktop: Service) -> list[str]:
    """Modules that modules of a desktop's processes have imported (-X importtime)."""
    lines = desktop.errors.read_text().splitlines()
    return [line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")]


def test_a_desktop_records_and_cuts_without_its_own_files(neighbours: Neighbours) -> None:
    name = {"recording_id": "5f1e0c4a-7f43-4e0b-9f5e-2d5a3c1b9a77"}
    neighbours.other.post("/api/v0/desktop/recording/start", name)
    neighbours.other.act(action="mouse_move", coordinate=[300, 300], observe=True)
    neighbours.other.post("/api/v0/desktop/recording/stop", name)
    recording = f"/api/v0/desktop/recordings/{name['recording_id']}"
    for part in ("video", "thumbnail", "clip?from=0&to=1"):
        assert neighbours.other.http.get(f"{recording}/{part}").status_code == 200


def test_each_desktop_has_a_user_of_its_own(neighbours: Neighbours) -> None:
    users = {uid_of(neighbours.one), uid_of(neighbours.other)}
    assert len(users) == 2
    assert "0" not in users


def test_a_desktop_knows_the_names_of_its_users(neighbours: Neighbours) -> None:
    uid = uid_of(neighbours.one)
    name = output(neighbours.one, "whoami")
    assert name.startswith("deskhand-")
    assert output(neighbours.one, "id -gn") == name
    home = output(neighbours.one, "echo $HOME")
    assert output(neighbours.one, f"getent passwd {uid} | cut -d: -f1,6") == f"{name}:{home}"
    # The machine itself has no such user.
    assert not any(str(user.pw_uid) == uid for user in pwd.getpwall())
    refused(neighbours.one, "echo more >> /etc/passwd")


def test_its_own_token_cannot_be_read(neighbours: Neighbours) -> None:
    absent(neighbours.one, f"cat {neighbours.token}")
    assert "dh_of-the-first" not in output(neighbours.one, "env; cat /proc/*/cmdline")


@pytest.mark.parametrize("entry", ["environ", "mem", "fd", "maps", "cwd", "root"])
def test_commands_cannot_read_their_own_service(neighbours: Neighbours, entry: str) -> None:
    for pid in init_and_service(neighbours.one):
        command = "ls" if entry in ("fd", "cwd", "root") else "head -c 1"
        refused(neighbours.one, f"{command} /proc/{pid}/{entry}{'/' if command == 'ls' else ''}")


def test_its_own_service_cannot_be_traced_or_ended(neighbours: Neighbours) -> None:
    init, _ = init_and_service(neighbours.one)
    assert "Operation not permitted" in output(neighbours.one, f"kill -9 {init}")
    assert "No such process" in output(neighbours.one, f"kill -9 {neighbours.one.ready['pid']}")


def test_the_other_desktops_display_wants_its_cookie(neighbours: Neighbours) -> None:
    mine, other = (d.ready["display"] for d in neighbours[:2])
    assert "opened" in output(neighbours.one, f"xterm -display {mine} -e true && echo opened")
    shown = output(neighbours.one, f"xterm -display {other} -e true && echo opened")
    assert "opened" not in shown
    assert "Can't open display" in shown


def test_the_other_desktops_folder_is_closed(neighbours: Neighbours) -> None:
    folder = output(neighbours.other, "dirname $HOME")
    for path in (
        "",
        "/run/service/rfb.sock",
        "/run/display/Xauthority",
        "/home",
        "/run/bus/bus",
        "/browser",
        "/recordings",
        "/journals/calls.jsonl",
    ):
        absent(neighbours.one, f"stat {folder}{path}/." if not path else f"cat {folder}{path}")
    refused(neighbours.one, f"ls {Path(folder).parent}")


def test_the_other_desktops_processes_are_not_its_own(neighbours: Neighbours) -> None:
    pid = neighbours.other.get("/api/v0/desktop")["xserver"]["pid"]
    absent(neighbours.one, f"head -c 1 /proc/{pid}/environ")
    assert "No such process" in output(neighbours.one, f"kill -9 {pid}")


def test_the_control_planes_files_and_its_sockets_are_closed(plane: Service) -> None:
    made = plane.post("/api/v0/desktops", {})
    desktop = str(made["id"])
    try:
        data = Path(plane.get("/api/v0/status")["data_dir"])
        assert stat.S_IMODE(data.stat().st_mode) == 0o700
        tool = f"/api/v0/tools/execute?desktop={desktop}"
        paths = [str(path) for path in (data, *paths_below(data))]
        for start in range(0, len(paths), AT_ONCE):
            some = paths[start : start + AT_ONCE]
            command = f"set -- {shlex.join(some)}; {SHOW_ALL}; echo $# paths"
            found = plane.post(tool, {"command": command})["result"]["output"]
            assert found.strip() == f"{len(some)} paths"
    finally:
        plane.http.delete(f"/api/v0/desktops/{desktop}")


def uid_of(desktop: Service) -> str:
    return output(desktop, "id -u")


def init_and_service(desktop: Service) -> tuple[int, int]:
    """Return the pids that a command on the desktop sees."""
    status = Path(f"/proc/{service_pid(desktop.ready['pid'])}/status").read_text()
    return 1, int(status.partition("\nNSpid:")[2].partition("\n")[0].split()[-1])


def absent(desktop: Service, command: str) -> None:
    """Run a command that must not find what it names."""
    assert "No such file or directory" in output(desktop, f"{command} 2>&1"), command


def refused(desktop: Service, command: str) -> None:
    """Run a command that must not be allowed to see what it names."""
    found = output(desktop, f"{command} 2>&1 || echo refused")
    assert found.endswith("refused"), found
    assert "Permission denied" in found or "not permitted" in found, found


def output(desktop: Service, command: str) -> str:
    started = desktop.post("/api/v0/processes/start", {"command": f"({command}) 2>&1"})
    found = desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true")["output"]
    return str(found).strip()


def test_a_display_with_a_shared_memory_segment_of_the_same_id_is_read_right(
    neighbours: Neighbours,
) -> None:
    desktop = neighbours.one
    desktop.act(action="screenshot")
    display, cookie = x_display(desktop)
    # The ids of a new IPC namespace begin at 0, as those of the desktop's did (ipc_namespaces(7)).
    reader = [sys.executable, "-c", FIRST_FRAME, display, str(cookie)]
    found = subprocess.run(
        ["unshare", "--ipc", *reader], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert found.stdout.split() == ["False", "True"], found.stderr
