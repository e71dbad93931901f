"""What a desktop whose service is killed leaves in /tmp."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.services import (
    DESKHAND,
    Service,
    descendants_of,
    service,
    service_pid,
    unprivileged,
    until,
)

pytestmark = pytest.mark.x11


@pytest.fixture
def private(tmp_path: Path) -> Iterator[Path]:
    """A folder with a short path, for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="deskhand-x-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


# Without namespaces there is no private /tmp: there the keeper alone removes the files.
@pytest.mark.soak
@pytest.mark.parametrize("level", ["user", "shared"])
def test_the_keeper_removes_lock_and_socket_of_a_dead_x_server(
    tmp_path: Path, private: Path, level: str
) -> None:
    if level == "user" and os.geteuid() != 0:
        pytest.skip("only root can start a desktop as another user")
    plain: tuple[str, ...] = (DESKHAND,)
    environment = {"DESKHAND_NAMESPACES": "off"}
    if level == "shared":
        environment = {"HOME": str(private), "DESKHAND_RUN_DIR": str(private / "run")}
        plain = unprivileged()
    with service(tmp_path / "x.log", "desktop", environment=environment, program=plain) as desktop:
        assert desktop.ready["level"] == level
        lock, socket = files_of(desktop)
        assert socket.is_socket()
        before = [made_at(path) for path in (lock, socket)]
        status = desktop.get("/api/v0/desktop")
        os.kill(service_of(desktop), signal.SIGKILL)
        desktop.process.wait()
        until(lambda: not descendants_of(status["instance_id"]), "the end of the desktop")
        # The keeper ends last. Another desktop may have taken the number since.
        for path, earlier in zip((lock, socket), before, strict=True):
            assert (now := made_at(path)) is None or now != earlier


def made_at(path: Path) -> int | None:
    """Return when a file was made, in nanoseconds; None where there is none."""
    try:
        return path.lstat().st_ctime_ns
    except FileNotFoundError:
        return None


def files_of(desktop: Service) -> tuple[Path, Path]:
    number = str(desktop.get("/api/v0/desktop")["display"]).removeprefix(":")
    return Path(f"/tmp/.X{number}-lock"), Path(f"/tmp/.X11-unix/X{number}")


def service_of(desktop: Service) -> int:
    return service_pid(desktop.ready["pid"])
