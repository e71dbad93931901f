"""Names of files in the downloads. Pure."""

from collections.abc import Collection

from deskhand.desktop.errors import InvalidAction

LONGEST = 255
"""Bytes of a file name (NAME_MAX of <linux/limits.h>)."""


def checked_name(name: str) -> str:
    """Return a name that is a single file's.

    Raises:
        InvalidAction: If it is empty, too long, a path, or a name that directories have.
    """
    problem = _problem(name)
    if problem:
        raise InvalidAction(f'"name" {problem}, such as report.pdf.', repr(name[:LONGEST]))
    return name


def _problem(name: str) -> str:
    if not name:
        return "must be a file name"
    if "/" in name or "\0" in name or name in {".", ".."}:
        return "must be a file name without folders"
    if len(name.encode("utf-8", "surrogateescape")) > LONGEST:
        return f"must have at most {LONGEST} bytes"
    return ""


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number before its suffix if it is taken, as browsers do."""
    stem, dot, suffix = name.rpartition(".")
    if not stem:
        stem, dot, suffix = name, "", ""
    number = 0
    found = name
    while found in taken:
        number += 1
        ending = f" ({number}){dot}{suffix}"
        found = _shortened(stem, LONGEST - len(ending.encode("utf-8", "surrogateescape"))) + ending
    return found


def _shortened(text: str, most: int) -> str:
    """Return the first characters, which have at most that many bytes."""
    return text.encode("utf-8", "surrogateescape")[: max(most, 0)].decode("utf-8", "ignore")
