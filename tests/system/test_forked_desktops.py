"""Desktops of a control plane whose launcher has a fork server."""

import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from deskhand.desktop.fork_server.server import TITLE
from tests.system.services import Service, service

pytestmark = [
    pytest.mark.x11,
    pytest.mark.soak,
    pytest.mark.slow("a control plane with desktops of its own"),
]


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("plane")
    arguments = ("up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
    environment = {"DESKHAND_FORK_SERVER": "wait"}
    with service(folder / "plane.log", *arguments, environment=environment) as found:
        yield found


def desktop_of(plane: Service) -> tuple[str, psutil.Process]:
    """Start a desktop; return its path and the process that has started its keeper."""
    started = plane.post("/api/v0/desktops", {})
    parent = psutil.Process(started["pid"]).parent()
    assert parent is not None
    return f"/api/v0/desktops/{started['id']}", parent


def test_desktops_outlive_their_fork_server_and_differ(plane: Service) -> None:
    first, server = desktop_of(plane)
    second, same = desktop_of(plane)
    assert server == same
    assert server.cmdline()[:1] == TITLE
    instances = [plane.get(f"{path}/desktop")["instance_id"] for path in (first, second)]
    assert instances[0] != instances[1]
    server.send_signal(signal.SIGKILL)
    third, launcher = desktop_of(plane)
    assert launcher.pid != server.pid
    assert "fork server has ended" in plane.errors.read_text()
    for path in (first, second, third):
        assert plane.http.get(f"{path}/desktop/screenshot").is_success
    fourth, another = desktop_of(plane)
    assert another.cmdline()[:1] == TITLE
    for path in (first, second, third, fourth):
        assert plane.http.delete(path).is_success


def test_no_file_of_a_desktop_stays_open_in_the_fork_server(plane: Service) -> None:
    desktop, server = desktop_of(plane)
    opened = {str(one.readlink()) for one in Path(f"/proc/{server.pid}/fd").iterdir()}
    assert not [path for path in opened if ".log" in path and "plane.log" not in path]
    # Its channel, and both ends of the pipe of its signals.
    assert sorted(path.partition(":")[0] for path in opened if ":" in path) == ["pipe", "socket"]
    assert plane.http.delete(desktop).is_success
