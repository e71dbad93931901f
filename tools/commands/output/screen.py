"""Facts about the terminal, and tables printed on it."""

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deskhand.tools.commands.terminal import print_error, print_json, print_line

from .table import Column, table


def width() -> int | None:
    """Return the width of the terminal in characters; ``None`` if the output is none."""
    # COLUMNS has precedence, also for a pipe: tests and `watch` set it.
    columns = shutil.get_terminal_size((0, 0)).columns
    return columns or None


def is_terminal() -> bool:
    """Return whether a person reads the output."""
    return sys.stdout.isatty()


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], nothing: str) -> None:
    """Print a table that fits the terminal; ``nothing`` goes to the errors if it has no row."""
    if not rows:
        print_error(nothing)
        return
    for line in table(columns, rows, width()):
        print_line(line)


def print_objects(name: str, rows: Iterable[Mapping[str, Any]], *, lines: bool) -> None:
    """Print objects as JSON: in one object under ``name``, or each in a line of its own."""
    if lines:
        for row in rows:
            print_json(row)
    else:
        print_json({name: list(rows)})
