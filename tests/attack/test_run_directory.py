"""Another user of the machine takes the name of the directory in which desktops are started."""

import fcntl
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.system.services import DESKHAND, PATIENCE, service

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

ATTACKER = 54321


@pytest.fixture
def short() -> Iterator[Path]:
    """A directory whose path is short enough for sockets below it."""
    with TemporaryDirectory(dir="/tmp") as path:
        yield Path(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a link of another user is made")
def test_a_link_of_another_user_is_not_followed(short: Path) -> None:
    victim, taken = short / "victim", short / "deskhand-0"
    victim.mkdir(mode=0o700)
    taken.symlink_to(victim)
    os.chown(taken, ATTACKER, ATTACKER, follow_symlinks=False)
    ended = subprocess.run(
        [DESKHAND, "desktop", "--json"],
        env={**os.environ, "DESKHAND_RUN_DIR": str(taken)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert f"{taken} is a link of another user" in ended.stderr
    assert not ended.stdout
    assert stat.S_IMODE(victim.stat().st_mode) == 0o700
    assert list(victim.iterdir()) == []


def test_cleaners_of_temporary_files_leave_the_directory_of_a_desktop(short: Path) -> None:
    """systemd-tmpfiles(8) skips a directory with a lock (tmpfiles.d(5), "Age")."""
    root = short / "desktops"
    environment = {"DESKHAND_RUN_DIR": str(root)}
    with service(short / "errors.log", "desktop", environment=environment):
        descriptor = os.open(root, os.O_RDONLY)
        try:
            with pytest.raises(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(descriptor)
