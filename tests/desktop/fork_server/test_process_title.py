import os
import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.desktop.fork_server.process_title import ProcessTitle, area_of, fitted

SHOWN = """
import sys
from pathlib import Path
from deskhand.desktop.fork_server.process_title import ProcessTitle
ProcessTitle().set(["one", "two words"])
sys.stdout.write(Path("/proc/self/cmdline").read_text())
"""


def test_the_area_is_found_behind_a_name_with_spaces_and_brackets() -> None:
    fields = ["S", *map(str, range(4, 48)), "1000", "1300", "50", "51", "0"]
    assert area_of(f"7 (a) b (c)) {' '.join(fields)}\n") == (1000, 300)


@pytest.mark.parametrize(
    ("arguments", "length", "text"),
    [
        (["a", "bc"], 8, b"a\0bc\0\0\0\0"),
        (["abc", "def"], 6, b"abc\0d\0"),
        (["b\udcff"], 4, b"b\xff\0\0"),
        ([], 2, b"\0\0"),
    ],
)
def test_arguments_are_cut_and_filled_to_the_length(
    arguments: list[str], length: int, text: bytes
) -> None:
    assert fitted(arguments, length) == text


def test_other_programs_see_the_new_arguments() -> None:
    room = [sys.executable, "-c", SHOWN, "x" * 50]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    shown = subprocess.run(room, env=environment, capture_output=True, check=True).stdout
    assert shown.rstrip(b"\0").split(b"\0") == [b"one", b"two words"]


def test_the_same_arguments_leave_everything_as_it_is() -> None:
    shown = Path("/proc/self/cmdline")
    before = shown.read_text()
    ProcessTitle().set(before.split("\0")[:-1])
    assert shown.read_text() == before
