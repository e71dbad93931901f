"""Rows about the time of a run."""

from typing import Any

from deskhand.tools.commands.runs.time_rows import LONGEST, longest_rows, total_rows


def row(index: int | None, *spans: tuple[str, float, float]) -> dict[str, Any]:
    listed = [{"kind": kind, "begin": begin, "end": end} for kind, begin, end in spans]
    return {"index": index, "title": "Click", "spans": listed}


def test_totals_are_sorted_and_have_their_share() -> None:
    found = {"totals": {"model": 1.0, "action": 3.0, "own": 0.0}}
    assert total_rows(found) == [("action", "3.0", "75 %"), ("model", "1.0", "25 %")]
    assert total_rows({"totals": {"model": 0.0}}) == []


def test_the_longest_steps_come_first() -> None:
    long = row(4, ("model", 0, 3), ("action", 3, 4))
    found = {"rows": [row(3), long, row(None, ("person", 4, 6))]}
    assert longest_rows(found) == [
        ("5", "4.0", "model", "Click"),
        ("-", "2.0", "person", "Click"),
        ("4", "0.0", "-", "Click"),
    ]
    assert len(longest_rows({"rows": [long] * 20})) == LONGEST
