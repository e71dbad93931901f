from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.audit.chain_file import ChainFile
from deskhand.tools.commands.access.audit import (
    joined,
    joined_verification,
    record_line,
    records_of,
    verification,
    verified_files,
)

RECORD = {"at": 0.0, "actor": "owner", "action": "request", "subject": "d1", "details": {"a": "ö"}}


def test_a_record_is_one_line() -> None:
    line = record_line(RECORD)
    assert line.endswith('  owner  request  d1  {"a": "ö"}')
    assert line.startswith(("1969-12-31 ", "1970-01-01 "))
    empty = {**RECORD, "actor": "", "subject": "", "details": {}}
    assert record_line(empty).endswith("  -  request  -")


@pytest.mark.parametrize(
    ("problems", "result"), [([], "intact"), (["record 3 of one was changed"], "not intact")]
)
def test_a_verification_names_problems_and_the_newest_records(
    problems: list[str], result: str
) -> None:
    heads = [{"writer": "one", "n": 5, "hash": "abc"}]
    answer = {"intact": not problems, "problems": problems, "heads": heads}
    assert verification(answer) == [*problems, result, "one: record 5, abc"]


def chain_file(folder: Path, name: str, *times: float) -> Path:
    """Write the file of a node."""
    left = list(times)
    with ChainFile(folder / name, name, lambda: left.pop(0)) as chain:
        for number in range(len(times)):
            chain.note("p1", "node.start", f"d{number}")
    return folder / name


def test_records_of_files_are_joined_newest_first(tmp_path: Path) -> None:
    files = [chain_file(tmp_path, "n1", 1.0, 5.0), chain_file(tmp_path, "n2", 3.0, 3.0)]
    answer: dict[str, Any] = {"records": [{"at": 4.0, "n": 9}, {"at": 2.0, "n": 8}]}
    found = joined(answer, records_of(files, ""), 5)["records"]
    assert [(one["at"], one["n"]) for one in found] == [(5, 2), (4, 9), (3, 2), (3, 1), (2, 8)]
    (only,) = joined({"records": []}, records_of(files, "d1"), 1)["records"]
    assert (only["at"], only["subject"]) == (5.0, "d1")
    assert joined(answer, records_of([], ""), 5) == answer


def test_the_chains_of_files_are_verified_with_those_of_the_control_planes(tmp_path: Path) -> None:
    files = [chain_file(tmp_path, "n1", 1.0, 2.0), chain_file(tmp_path, "n2", 3.0)]
    answer = {"intact": True, "problems": [], "heads": [{"writer": "p", "n": 7, "hash": "h"}]}
    found = joined_verification(answer, verified_files(files))
    assert (found["intact"], found["problems"]) == (True, [])
    assert [one["n"] for one in found["heads"]] == [7, 2, 1]
    lines = files[0].read_text().splitlines()
    files[0].write_text(lines[1] + "\n")
    found = joined_verification(answer, verified_files(files))
    assert found["intact"] is False
    assert "up to 1 were removed" in found["problems"][0]
    files[0].write_text("no record\n")
    assert verified_files(files)["problems"] == [f"line 1 of {files[0]} is no record"]
