import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.desktop.launch.keeper import GRACE_SECONDS, LONGEST_SECONDS, GracePeriod, exit_code

KEEPER = Path(__file__).parents[3] / "deskhand" / "desktop" / "launch" / "__main__.py"
PATIENCE = 20.0 + LONGEST_SECONDS


HASTY = """
import sys
sys.path[0] = sys.argv[1].partition("/deskhand/desktop/")[0]
from deskhand.desktop.launch import keeper
sys.exit(keeper.exit_code(keeper.keep(sys.argv[2:], grace_seconds=0.1)))
"""
"""A keeper with less patience."""


def start(script: str, *program: str, stderr: int | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-S", "-E", *program, str(KEEPER), "/bin/sh", "-c", script]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)


def open_until_gone(keeper: subprocess.Popen[str]) -> None:
    """Wait until no process holds the pipe: every descendant inherited it, so all have ended."""
    assert keeper.stdout is not None
    keeper.stdout.read()
    keeper.stdout.close()


def test_the_exit_status_is_the_services() -> None:
    keeper = start("exit 7")
    assert keeper.wait(PATIENCE) == 7
    open_until_gone(keeper)


def test_a_killed_service_leaves_nothing_behind_not_even_double_setsid() -> None:
    orphan = "setsid sh -c 'setsid sleep 1000 & sleep 1000'"
    keeper = start(f"{orphan} & echo $$; exec sleep 1000")
    assert keeper.stdout is not None
    os.kill(int(keeper.stdout.readline()), signal.SIGKILL)
    assert keeper.wait(PATIENCE) == 128 + signal.SIGKILL
    open_until_gone(keeper)


def test_the_signal_that_ended_a_service_is_in_the_log() -> None:
    keeper = start("kill -SEGV $$", stderr=subprocess.PIPE)
    _, log = keeper.communicate(timeout=PATIENCE)
    assert log == "deskhand: the desktop's service was ended by SIGSEGV\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_being_asked_to_end_is_passed_on(number: signal.Signals) -> None:
    keeper = start("trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done")
    assert keeper.stdout is not None
    assert keeper.stdout.readline() == "ready\n"
    keeper.send_signal(number)
    assert keeper.wait(PATIENCE) == 3
    open_until_gone(keeper)


def test_a_service_that_will_not_end_is_killed() -> None:
    keeper = start("trap '' TERM; echo ready; while :; do sleep 0.05; done", "-c", HASTY)
    assert keeper.stdout is not None
    assert keeper.stdout.readline() == "ready\n"
    keeper.terminate()
    assert keeper.wait(PATIENCE) == 128 + signal.SIGKILL
    open_until_gone(keeper)


def test_orphans_that_end_by_themselves_are_reaped_while_the_service_runs() -> None:
    keeper = start("(setsid true &); echo gone; read line < /dev/null; exit 0")
    assert keeper.wait(PATIENCE) == 0
    open_until_gone(keeper)


def test_what_is_not_ours_to_kill_is_let_be_and_the_rest_is_killed() -> None:
    sweeping = (
        "import os, subprocess\nfrom deskhand.desktop.launch import keeper\n"
        "def kill(pid, number):\n"
        "    if pid == other.pid: raise PermissionError\n"
        "    os.kill(pid, number)\n"
        "other = subprocess.Popen(['sleep', '1000'])\n"
        "ours = subprocess.Popen(['sleep', '1000'])\n"
        "keeper.sweep(kill)\n"
        "print(ours.poll() is not None, other.poll() is None, flush=True)\n"
        "other.kill()"
    )
    command = [sys.executable, "-c", sweeping]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout == "True True\n"


def test_a_signal_becomes_a_shells_exit_code() -> None:
    assert exit_code(-9) == 137
    assert exit_code(0) == 0
    assert exit_code(4) == 4


def test_time_that_others_take_is_not_charged() -> None:
    alone, crowded = GracePeriod(100.0), GracePeriod(100.0)
    assert not alone.spent(100.0 + GRACE_SECONDS - 0.1, runnable=1, processors=2)
    assert alone.spent(100.0 + GRACE_SECONDS, runnable=0, processors=2)
    assert not crowded.spent(100.0 + 2 * GRACE_SECONDS, runnable=8, processors=2)
    assert not crowded.spent(100.0 + 2.4 * GRACE_SECONDS, runnable=2, processors=2)
    assert crowded.spent(100.0 + 2.6 * GRACE_SECONDS, runnable=2, processors=2)


def test_patience_ends_on_the_busiest_machine() -> None:
    patience = GracePeriod(100.0)
    assert not patience.spent(99.9 + LONGEST_SECONDS, runnable=1000, processors=2)
    assert patience.spent(100.0 + LONGEST_SECONDS, runnable=1000, processors=2)
