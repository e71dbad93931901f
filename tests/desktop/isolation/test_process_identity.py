import os
import subprocess

from deskhand.desktop.isolation.process_identity import boot_id, start_time


def test_a_running_process_has_a_start_time_that_stays() -> None:
    assert start_time(os.getpid()) == start_time(os.getpid())
    assert len(boot_id()) == 36


def test_an_ended_process_has_none_even_before_it_is_reaped() -> None:
    with subprocess.Popen(["sh", "-c", "read line"], stdin=subprocess.PIPE) as child:
        assert start_time(child.pid) is not None
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert start_time(child.pid) is None
    assert start_time(child.pid) is None
