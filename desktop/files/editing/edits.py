"""Applies edits to a text: each must match unambiguously; all other bytes are kept."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from deskhand.desktop.files.errors import EditError

from .hints import hints
from .line_endings import TextLine, ended, ending_at, endings, joined, lines_of
from .matching import PASSES, exact, windows
from .splice import spliced

MOST_PLACES = 5
BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Edit:
    """One replacement."""

    old: str
    new: str
    everywhere: bool = False
    label: str = "edits[0]"
    """Name of the edit in the request, for messages."""


def edited(text: str, edits: Sequence[Edit], path: str) -> str:
    """Return the text after all edits, each applied to the result of the previous one.

    Raises:
        EditError: If an edit matches nowhere, or at several places without ``everywhere``.
    """
    # The mark belongs to the file and not to its first line, which a reader shows without it.
    body = text.removeprefix(BYTE_ORDER_MARK)
    mark = text[: len(text) - len(body)]
    for edit in edits:
        if mark:
            old, new = (part.removeprefix(mark) for part in (edit.old, edit.new))
            edit = replace(edit, old=old, new=new)
        body = _applied(body, edit, path)
    return mark + body


def _applied(text: str, edit: Edit, path: str) -> str:
    if not edit.old:
        raise EditError(f"{edit.label} of {path}: old_text must not be empty")
    # If search and replacement have different line endings, the edit is about the endings.
    converting = bool(endings(edit.old) and endings(edit.new)) and (
        endings(edit.old) != endings(edit.new)
    )
    new = lines_of(edit.new)
    spans = exact(text, edit.old, any_ending=not converting)
    if spans:
        numbers = [text.count("\n", 0, start) + 1 for start, _ in spans[: MOST_PLACES + 1]]
        _only_one(edit, path, len(spans), numbers)
        # From the end, so that the earlier spans stay valid.
        for start, end in reversed(spans):
            there = edit.new if converting else _in_endings_of(text, start, end, new)
            text = text[:start] + there + text[end:]
        return text
    lines, search = lines_of(text), lines_of(edit.old)
    # The tolerant keys ignore line endings, which are what a converting edit is about.
    if not converting:
        for key in PASSES:
            places = windows(lines, search, key)
            if places:
                _only_one(edit, path, len(places), [at + 1 for at in places])
                return _spliced(lines, places, search, new)
    said = hints(text, lines, search, edit.new)
    raise EditError(f"{edit.label} of {path}: old_text was not found in file. {said}".rstrip())


def _in_endings_of(text: str, start: int, end: int, new: Sequence[TextLine]) -> str:
    if not any(line.end for line in new):
        return joined(new)
    found = lines_of(text[start:end])
    beyond = ending_at(text, end)
    return joined(ended(new, found, [line.end or beyond for line in found]))


def _spliced(
    lines: list[TextLine],
    places: Sequence[int],
    search: Sequence[TextLine],
    new: Sequence[TextLine],
) -> str:
    for at in reversed(places):
        end = at + len(search)
        before = lines[at - 1].end if at else ""
        lines[at:end] = spliced(lines[at:end], search, new, before or "\n")
    return joined(lines)


def _only_one(edit: Edit, path: str, count: int, numbers: list[int]) -> None:
    if count == 1 or edit.everywhere:
        return
    places = ", ".join(map(str, numbers[:MOST_PLACES]))
    others = ", ..." if count > MOST_PLACES else ""
    raise EditError(
        f"{edit.label} of {path}: old_text matches {count} occurrences (line {places}{others}) "
        "where exactly one was expected. Add surrounding lines to it, or set replace_all."
    )
