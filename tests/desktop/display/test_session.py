"""The session's programs, played by scripts; the real ones are tested in ``tests/system``."""

import subprocess
from pathlib import Path

import psutil
import pytest

from deskhand.desktop.browser.policy import BrowserLaunch, decide
from deskhand.desktop.display.child_processes import ChildProcessSpawner
from deskhand.desktop.display.session import DesktopSession
from deskhand.desktop.display.session_files import SessionFiles
from deskhand.desktop.errors import DisplayGone, MissingProgram

BROWSER = decide("/usr/bin/true", "auto", "")
STAY = "exec sleep 600"
ANNOUNCE = """
for word in "$@"; do
    case $word in --print-address=*) echo here > /dev/fd/${word#*=} ;; esac
done
"""
PROGRAMS = {"dbus-daemon": ANNOUNCE + STAY, "openbox": STAY} | dict.fromkeys(
    ("tint2", "xterm"), STAY
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
        session = DesktopSession(tmp_path, *place, environment, spawner, files, BROWSER)
        with pytest.raises(DisplayGone):
            session.open()
        assert running(tmp_path) == []


def browser(folder: Path, launch: BrowserLaunch) -> subprocess.CompletedProcess[str]:
    """Run the browser's script of a session that did not start."""
    environment = {"PATH": "/nowhere", "HOME": str(folder)}
    with ChildProcessSpawner() as spawner:
        place = (":nowhere", folder / "Xauthority")
        files = SessionFiles.read()
        session = DesktopSession(folder, *place, environment, spawner, files, launch)
        with pytest.raises(MissingProgram):
            session.open()
    script = [str(folder / "bin" / "browser"), "http://x/"]
    return subprocess.run(script, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("why", "switch"), [("", False), ("no namespaces", True)])
def test_the_browser_is_started_without_its_sandbox_where_that_cannot_work(
    tmp_path: Path, why: str, switch: bool
) -> None:
    program = tmp_path / "it's a browser"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    ended = browser(tmp_path, decide(str(program), "auto", why))
    assert ended.returncode == 0
    assert ("--no-sandbox --test-type" in ended.stdout) == switch
    assert ended.stdout.rstrip().endswith(" http://x/")


def test_a_browser_that_may_not_start_reports_why(tmp_path: Path) -> None:
    ended = browser(tmp_path, decide("/usr/bin/true", "required", "it's no good"))
    assert ended.returncode == 126
    assert ended.stderr == ("browser: not started: its sandbox is required, and it's no good\n")
    assert ended.stdout == ""
