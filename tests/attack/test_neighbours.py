"""An agent searches for other desktops and for the control plane on its own desktop."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from deskhand.desktop.uid_base import DEFAULT_UID_BASE
from tests.system.services import PATIENCE, Service, service

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root separates desktops"),
]


class Neighbours(NamedTuple):
    """A control plane with two desktops."""

    plane: Service
    one: str
    other: str

    def run(self, command: str) -> str:
        """Run a command on the first desktop; return what it printed."""
        body = {"command": f"({command}) 2>&1"}
        path = "/api/v0/tools/execute"
        answer = self.plane.http.post(path, json=body, timeout=PATIENCE * 2)
        assert answer.is_success, answer.text
        return str(answer.json()["result"].get("output", "")).strip()

    def folder(self) -> Path:
        """Return the directory of the first desktop."""
        return Path(self.run("dirname $HOME"))


@contextmanager
def neighbours(folder: Path, namespaces: str) -> Iterator[Neighbours]:
    arguments = ("up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
    environment = {"DESKHAND_NAMESPACES": namespaces}
    with service(folder / "errors.log", *arguments, environment=environment) as plane:
        other = str(plane.post("/api/v0/desktops", {})["id"])
        # The chat of the tool has a desktop of its own.
        one = Neighbours(plane, "", other).folder().name
        for desktop in (one, other):
            # The first use starts its display.
            answer = plane.http.get(f"/api/v0/desktops/{desktop}/desktop/screenshot")
            assert answer.status_code == 200, (desktop, one, other, answer.text)
        yield Neighbours(plane, one, other)


@pytest.fixture(scope="module")
def separated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neighbours]:
    with neighbours(tmp_path_factory.mktemp("separated"), "on") as found:
        yield found


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neighbours]:
    with neighbours(tmp_path_factory.mktemp("together"), "off") as found:
        yield found


def users(found: Neighbours) -> set[int]:
    """Return the ids of the users whose processes the first desktop lists."""
    return set(map(int, found.run("ps -e -o uid=").split()))


LISTENING = "awk '$4 == \"00010000\"' /proc/net/unix | grep -o '@/tmp/.X11-unix/X[0-9]*'"
"""Abstract names of X servers that accept connections (flag SO_ACCEPTCON)."""


def test_only_its_own_processes_are_listed(separated: Neighbours, together: Neighbours) -> None:
    own = int(separated.run("id -u"))
    # The user of the service follows that of the agent.
    assert users(separated) <= {0, own, own + 1}
    own = int(together.run("id -u"))
    assert {user for user in users(together) if user >= DEFAULT_UID_BASE} - {own, own + 1}


def test_only_its_own_x_socket_exists(separated: Neighbours, together: Neighbours) -> None:
    number = separated.run("echo X${DISPLAY#:}")
    [trusted] = {*separated.run("ls /tmp/.X11-unix").split()} - {number}
    # A link to that of the X server, in a directory of others.
    assert "Permission denied" in separated.run(f"ls -L /tmp/.X11-unix/{trusted} 2>&1")
    assert len(together.run("ls /tmp/.X11-unix").split()) >= 2


def test_no_x_server_accepts_at_an_abstract_name(separated: Neighbours) -> None:
    # Without namespaces a server accepts there, unless another desktop reserves the same number.
    assert separated.run(f"{LISTENING} | grep -x @/tmp/.X11-unix/X${{DISPLAY#:}}") == ""


def test_a_display_name_cannot_be_taken(separated: Neighbours) -> None:
    name = separated.run("echo ${DISPLAY#:}")
    script = f"import socket; socket.socket(1).bind('\\0/tmp/.X11-unix/X{name}')"
    assert "Address already in use" in separated.run(f'/usr/bin/python3 -c "{script}"')
    free = script.replace(f"X{name}", f"X{name}9999")
    assert separated.run(f'/usr/bin/python3 -c "{free}"') == ""


def test_the_data_directory_does_not_exist(separated: Neighbours, together: Neighbours) -> None:
    data = separated.plane.get("/api/v0/status")["data_dir"]
    assert separated.run(f"test -e {data} || echo absent") == "absent"
    data = together.plane.get("/api/v0/status")["data_dir"]
    assert together.run(f"ls -d {Path(data).parents[2]}") != ""
    assert Path(data).is_dir()


def test_other_desktops_do_not_exist(separated: Neighbours, together: Neighbours) -> None:
    root = separated.folder().parent
    assert (root / separated.other).is_dir()
    assert separated.run(f"test -e {root / separated.other} || echo absent") == "absent"
    assert separated.run(f"ls {root} 2> /dev/null") == ""
    root = together.folder().parent
    assert together.run(f"test -e {root / together.other} && echo there") == "there"


def test_nothing_but_its_own_places_can_be_written(
    separated: Neighbours, together: Neighbours
) -> None:
    attempt = "touch /var/tmp/by-an-agent && rm /var/tmp/by-an-agent && echo written"
    assert "Read-only file system" in separated.run(attempt)
    assert together.run(attempt) == "written"
    for place in ("/tmp", "/dev/shm", "$HOME", "$TMPDIR"):
        assert separated.run(f"touch {place}/x && echo written") == "written", place


def test_the_socket_of_its_service_cannot_be_replaced(
    separated: Neighbours, together: Neighbours
) -> None:
    """An impostor at its place would receive the token of the control plane."""
    for found in (separated, together):
        listed = found.run("find /tmp /run /var/lib /var/run -type s 2> /dev/null").split()
        assert not [path for path in listed if "api" in path or found.one in Path(path).name]
        name = found.folder().parent / "sockets" / f"{found.one}.sock"
        assert name.is_socket()
        for attempt in (f"mv {name} {name}.old", f"rm {name}", f"ls {name.parent}"):
            assert found.run(f"{attempt} > /dev/null && echo done") != "done", attempt
    for socket in ("run/service/rfb.sock", "run/agent.sock"):
        refused = separated.run(f"mv $HOME/../{socket} $HOME/../x")
        assert "Permission denied" in refused, socket
    own = "python3 -c \"import socket; socket.socket(1).bind('own.sock')\""
    assert separated.run(f"cd $HOME && {own} && mv own.sock other.sock") == ""


def test_the_policy_of_its_browser_can_be_read_and_not_changed(separated: Neighbours) -> None:
    """The launcher's umask is private; the browser runs as a user of the desktop."""
    policies = "/etc/chromium/policies/managed"
    assert "CommandLineFlagSecurityWarningsEnabled" in separated.run(f"cat {policies}/*")
    assert "Read-only file system" in separated.run(f"touch {policies}/own.json")


def test_its_temporary_files_are_its_own(separated: Neighbours) -> None:
    assert separated.run("stat -c %a /tmp") == "1777"
    assert set(separated.run("stat -f -c %T /tmp /dev/shm").split()) == {"tmpfs"}


def test_the_status_names_the_namespaces(separated: Neighbours, together: Neighbours) -> None:
    for found, state, because in (
        (separated, "on", None),
        (together, "none", "DESKHAND_NAMESPACES is off"),
    ):
        status = found.plane.get(f"/api/v0/desktops/{found.one}/desktop")
        entry = next(one for one in status["protections"] if one["name"] == "namespaces")
        assert (entry["state"], entry["because"]) == (state, because)
