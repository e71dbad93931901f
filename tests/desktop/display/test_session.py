"""The session's programs, played by scripts; the real ones are tested in ``tests/system``."""

from pathlib import Path

import psutil
import pytest

from deskhand.desktop.display.child_processes import ChildProcessSpawner
from deskhand.desktop.display.session import DesktopSession, SessionFiles
from deskhand.desktop.errors import DisplayGone

STAY = "exec sleep 600"
ANNOUNCE = """
for word in "$@"; do
    case $word in --print-address=*) echo here > /dev/fd/${word#*=} ;; esac
done
"""
PROGRAMS = {"dbus-daemon": ANNOUNCE + STAY, "openbox": STAY} | dict.fromkeys(
    ("tint2", "hsetroot", "xterm"), STAY
)


def running(folder: Path) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("DESKHAND_SESSION") == str(folder):
                found.append(process.name())
        except (psutil.Error, OSError):
            continue
    return found


def test_a_session_that_does_not_start_leaves_nothing_running(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, script in PROGRAMS.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o700)
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path)}
    place = (":nowhere", tmp_path / "Xauthority")
    with ChildProcessSpawner() as spawner:
        files = SessionFiles.read()
        session = DesktopSession(tmp_path, *place, environment, spawner, files)
        with pytest.raises(DisplayGone):
            session.open()
        assert running(tmp_path) == []
