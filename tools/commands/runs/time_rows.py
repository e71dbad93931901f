"""Rows about the time of a run. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.tools.commands.output.table import Column

Json = Mapping[str, Any]

TOTAL_COLUMNS = (
    Column("KIND"),
    Column("SECONDS", right=True),
    Column("SHARE", right=True),
)
TIME_COLUMNS = (
    Column("STEP", right=True),
    Column("SECONDS", right=True),
    Column("MOST OF IT", optional=1),
    Column("TITLE", flexible=True),
)
LONGEST = 10
"""Steps that are listed, the longest ones."""


def total_rows(found: Json) -> list[Sequence[str]]:
    """Return the cells of `TOTAL_COLUMNS`: the kinds that took time, the longest first."""
    totals = sorted(found["totals"].items(), key=lambda pair: -float(pair[1]))
    whole = sum(seconds for _, seconds in totals)
    return [
        (str(kind), f"{seconds:.1f}", f"{100 * seconds / whole:.0f} %")
        for kind, seconds in totals
        if seconds > 0
    ]


def longest_rows(found: Json) -> list[Sequence[str]]:
    """Return the cells of `TIME_COLUMNS`: the longest steps, the longest first."""
    rows = sorted(found["rows"], key=_seconds, reverse=True)[:LONGEST]
    return [
        (
            "-" if row["index"] is None else str(row["index"] + 1),
            f"{_seconds(row):.1f}",
            max(row["spans"], key=_length)["kind"] if row["spans"] else "-",
            str(row["title"]),
        )
        for row in rows
    ]


def _seconds(row: Json) -> float:
    return sum(_length(span) for span in row["spans"])


def _length(span: Json) -> float:
    return float(span["end"]) - float(span["begin"])
