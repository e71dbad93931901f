import base64
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from deskhand.desktop.dialects.osworld.commands import (
    EndedCommand,
    ProgramFolder,
    collected,
    ended_of,
    found_first,
    launched,
    line_of,
    of_script,
    text_of,
    words_of,
)

FOLDER = ProgramFolder(Path("/nowhere/with space"))


def ended(script: str, given: str = "", **environment: str) -> EndedCommand | None:
    done = subprocess.run(
        ["sh", "-c", script],
        input=given,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    return ended_of(done.stdout)


def run(*words: str, shell: bool = False, **environment: str) -> EndedCommand | None:
    found = words_of(words, shell=shell)
    script = collected(FOLDER, line_of(words, found), checks=found_first(found))
    return ended(script, **environment)


def test_a_text_is_split_like_a_shells_words() -> None:
    assert words_of("echo 'a b' c", shell=False) == ("echo", "a b", "c")
    assert words_of(["echo", "a b"], shell=False) == ("echo", "a b")
    assert words_of("echo a | cat", shell=True) is None
    assert words_of(["echo a"], shell=True) is None
    for wrong in ("echo 'a", ""):
        with pytest.raises(ValueError, match=r"quotation|empty"):
            words_of(wrong, shell=False)


def test_stdout_and_stderr_and_the_status_are_kept_apart() -> None:
    assert run("sh", "-c", "echo a; echo b >&2; exit 3") == EndedCommand(3, b"a\n", b"b\n")
    assert run("echo $0; exit 2", "zero", shell=True) == EndedCommand(2, b"zero\n")
    line = line_of("echo a | cat", None)
    assert ended(collected(FOLDER, line)) == EndedCommand(0, b"a\n")


def test_bytes_that_are_no_text_are_kept() -> None:
    found = run("printf", r"\377\n\n")
    assert found == EndedCommand(0, b"\xff\n\n")
    assert text_of(found.output) == "\ufffd\n\n"


def test_the_home_directory_is_put_in(tmp_path: Path) -> None:
    found = run("echo", "~/x y", "a~/b", HOME=str(tmp_path))
    assert found == EndedCommand(0, f"{tmp_path}/x y a~/b\n".encode())


def test_a_program_that_is_not_found_is_reported() -> None:
    assert run("no-such-program") is None
    assert found_first(None) == ""


def test_a_long_output_stays_in_files(tmp_path: Path) -> None:
    found = run("head", "-c", "40000", "/dev/zero", TMPDIR=str(tmp_path))
    assert found is not None
    assert (found.code, Path(found.folder).parent) == (0, tmp_path)
    assert Path(found.folder, "out").read_bytes() == bytes(40_000)
    assert Path(found.folder, "err").read_bytes() == b""


def test_a_script_comes_from_standard_input(tmp_path: Path) -> None:
    script = of_script(FOLDER, "bash", merged=True)
    found = ended(script, "echo a; echo b >&2; cat", TMPDIR=str(tmp_path))
    assert found == EndedCommand(0, b"a\nb\n")
    assert list(tmp_path.iterdir()) == []


def test_programs_of_the_folder_are_found_first(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "google-chrome"
    program.write_text('#!/bin/sh\necho "$PYTHONPATH" "$@"\n')
    program.chmod(0o755)
    script = collected(ProgramFolder(tmp_path), line_of("google-chrome x", ("google-chrome", "x")))
    assert ended(script, PYTHONPATH="") == EndedCommand(0, f"{tmp_path}/lib x\n".encode())


def test_a_launched_program_is_announced() -> None:
    words = ("sh", "-c", "echo unseen")
    script = launched(FOLDER, line_of(words, words), found_first(words))
    done = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True, check=False)
    assert done.stdout == "started\n"


@pytest.mark.parametrize("output", ["", "0", "x\n\n", "0\n!\n", "missing\n"])
def test_an_output_without_an_end_is_none(output: str) -> None:
    assert ended_of(output) is None


def test_one_line_is_enough() -> None:
    line = base64.b64encode(shlex.quote("x").encode()).decode()
    assert ended_of(f"7\n{line}\n") == EndedCommand(7, b"x")
