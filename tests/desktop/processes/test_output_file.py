import errno
import json
import os
from pathlib import Path

import pytest

from deskhand.desktop.processes.output_file import OutputFile, open_output


def opened(folder: Path, most: int = 100) -> OutputFile:
    path = folder / "a" / "output.log"
    return OutputFile(open_output(path), path, folder / "a" / "exit.json", most)


def test_output_is_added_to_what_is_there(tmp_path: Path) -> None:
    for data in (b"one\n", b"two\n"):
        file = opened(tmp_path)
        file.write(data)
        file.close()
        file.close()
    assert (tmp_path / "a" / "output.log").read_bytes() == b"one\ntwo\n"


def test_no_more_than_the_bound_is_copied(tmp_path: Path) -> None:
    file = opened(tmp_path, most=6)
    for _ in range(5):
        file.write(b"abcd")
    file.close()
    assert (tmp_path / "a" / "output.log").read_bytes() == b"abcdab"
    assert file.lost == ""


def test_a_full_disk_ends_the_copy_with_an_error() -> None:
    full = Path("/dev/full")
    file = OutputFile.__new__(OutputFile)
    file.lost, file._remaining = "", 100
    file._descriptor = os.open(full, os.O_WRONLY)
    file.write(b"data")
    file.write(b"more")
    assert file.lost == os.strerror(errno.ENOSPC)


def test_the_exit_is_noted_beside_it(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.write_exit({"exit_code": 3})
    file.close()
    assert json.loads((tmp_path / "a" / "exit.json").read_text()) == {"exit_code": 3}


def test_only_regular_files_are_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", Path("/dev/null")):
        with pytest.raises(OSError, match=r"directory|device|not a file"):
            open_output(path)
