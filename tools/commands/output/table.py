"""Tables of text that fit the width of a terminal. Pure.

A table that is too wide loses the columns with the highest ``optional`` first; then the flexible
column is shortened. Ids are never shortened, since people copy them. Texts of agents and of pages
are cleaned of control characters, which could rewrite what the terminal shows.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

GAP = 2
SHORTEST = 8
"""Characters of a flexible column below which other columns are left out."""
SHORTENED = "…"


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    title: str
    flexible: bool = False
    """True if it may be shortened; one column of a table is."""
    optional: int = 0
    """Columns with a higher number are left out first; those with 0 never."""
    right: bool = False
    """True if its cells are aligned on the right, as numbers are."""


def printable(text: str) -> str:
    """Return a text as one line without characters that control a terminal."""
    return " ".join(harmless(text).split())


def harmless(text: str) -> str:
    """Return a text with its lines, without characters that control a terminal."""
    # Cc has the escapes, Cf the marks that reverse the direction of writing.
    controls = ("Cc", "Cf")
    return "".join(
        " " if unicodedata.category(one) in controls and one not in "\n\t" else one for one in text
    )


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Return the lines of a table with its header, each at most ``width`` characters wide.

    ``None`` sets no limit.
    """
    cleaned = [[printable(cell) for cell in row] for row in rows]
    kept = list(range(len(columns)))
    widths = [
        max(cells(column.title), *(cells(row[at]) for row in cleaned), 0)
        for at, column in enumerate(columns)
    ]
    if width is not None:
        while _least(columns, widths, kept) > width:
            least = max(kept, key=lambda at: columns[at].optional)
            if columns[least].optional == 0:
                break
            kept.remove(least)
        for at in kept:
            if columns[at].flexible:
                others = sum(widths[one] + GAP for one in kept if one != at)
                widths[at] = min(widths[at], max(SHORTEST, width - others))
    header = [column.title for column in columns]
    return [
        (" " * GAP).join(_cell(row[at], widths[at], columns[at].right) for at in kept).rstrip()
        for row in (header, *cleaned)
    ]


def cells(text: str) -> int:
    """Return the number of columns of a terminal that a text takes."""
    wide = sum(unicodedata.east_asian_width(one) in ("W", "F") for one in text)
    marks = sum(unicodedata.combining(one) != 0 for one in text)
    return len(text) + wide - marks


def shortened(text: str, width: int) -> str:
    """Return a text of at most ``width`` columns; an ellipsis stands for what is left out."""
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[:-1]
    return text.rstrip() + SHORTENED


def _least(columns: Sequence[Column], widths: Sequence[int], kept: Sequence[int]) -> int:
    smallest = (min(widths[at], SHORTEST) if columns[at].flexible else widths[at] for at in kept)
    return sum(smallest) + GAP * (len(kept) - 1)


def _cell(text: str, width: int, right: bool) -> str:
    fitted = shortened(text, width)
    filling = " " * (width - cells(fitted))
    return filling + fitted if right else fitted + filling
