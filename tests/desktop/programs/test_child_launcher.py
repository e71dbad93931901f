import os
import select
import signal
from pathlib import Path

import pytest

from deskhand.desktop.programs.child_launcher import ChildLauncher, ChildProgram
from deskhand.desktop.programs.program import Program, ProgramNotFound

LIMIT = 20.0
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


def shell(script: str, *numbers: int) -> Program:
    return Program(("sh", "-c", script), ENVIRONMENT, descriptors=numbers)


def code(running: ChildProgram) -> int:
    assert select.select([running], [], [], LIMIT)[0]
    found = running.poll()
    assert found is not None
    running.close()
    running.close()
    return found


def test_descriptors_get_their_numbers() -> None:
    reading, writing = os.pipe()
    running = ChildLauncher().start(shell("echo five >&5; ls /proc/$$/fd", 1, 5), (writing,) * 2)
    os.close(writing)
    assert code(running) == 0
    with os.fdopen(reading) as file:
        assert file.read().split() == ["five", "0", "1", "2", "5"]


def test_the_first_directory_that_exists_is_taken(tmp_path: Path) -> None:
    places = (str(tmp_path / "absent"), str(tmp_path))
    running = ChildLauncher().start(shell("true")._replace(directories=places))
    assert running.directory == str(tmp_path)
    assert code(running) == 0
    anywhere = ChildLauncher().start(shell("true"))
    assert anywhere.directory == str(Path.cwd())
    assert code(anywhere) == 0


def test_a_missing_program_is_named() -> None:
    with pytest.raises(ProgramNotFound, match="no-such-program"):
        ChildLauncher().start(Program(("no-such-program",), ENVIRONMENT))


def test_the_rest_of_a_group_ends_with_a_program_that_was_asked_to() -> None:
    reading, writing = os.pipe()
    running = ChildLauncher().start(shell("(trap '' TERM; echo; sleep 600) & wait", 1), (writing,))
    os.close(writing)
    with os.fdopen(reading) as file:
        assert file.readline() == "\n"
        assert running.poll() is None
        running.signal(signal.SIGTERM, last=True)
        assert code(running) == -signal.SIGTERM
        assert file.read() == ""
    # Its pid may belong to another process now.
    running.signal(signal.SIGKILL)
