import os
import subprocess
import sys

from deskhand.desktop.isolation.user_processes import kill_user_processes, user_pids

STRANGER = 3_000_000 + os.getpid()
"""No user of this machine's, nor of another run of this test."""

PROGRAM = """
import os, sys
os.setgroups([]); os.setgid({uid}); os.setuid({uid})
print("ready", flush=True)
os.execve("/bin/sleep", ["sleep", "1000"], {{}})
"""


def test_all_processes_of_a_user_are_killed_and_none_of_others() -> None:
    if os.geteuid() != 0:
        assert user_pids(STRANGER) == []
        return
    with subprocess.Popen(["sleep", "1000"]) as ours:
        strangers = [
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM.format(uid=STRANGER)],
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            for _ in range(3)
        ]
        for stranger in strangers:
            assert stranger.stdout is not None
            assert stranger.stdout.readline() == b"ready\n"
        assert set(user_pids(STRANGER)) == {stranger.pid for stranger in strangers}
        kill_user_processes(STRANGER)
        assert user_pids(STRANGER) == []
        for stranger in strangers:
            with stranger:
                assert stranger.wait(20) == -9
        assert ours.poll() is None
        ours.kill()


def test_the_own_process_is_not_listed() -> None:
    assert os.getpid() not in user_pids(os.getuid())
