import os
import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.tools.control_plane.data_dir_lock import AlreadyRunning, held


def test_the_second_holder_learns_the_process_of_the_first(tmp_path: Path) -> None:
    with held(tmp_path), pytest.raises(AlreadyRunning, match=str(os.getpid())), held(tmp_path):
        pytest.fail("must not be held twice")


def test_it_can_be_held_again_afterwards(tmp_path: Path) -> None:
    for _ in range(2):
        with held(tmp_path):
            pass


def test_it_ends_with_its_process_even_when_that_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib; from deskhand.tools.control_plane.data_dir_lock import held\n"
        "with held(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(AlreadyRunning, match=str(other.pid)), held(tmp_path):
            pytest.fail("must not be held")
        other.kill()
        other.wait(20)
    with held(tmp_path):
        pass
