"""Applies edits to a text: each must match unambiguously; all other bytes are kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from deskhand.desktop.files.errors import EditError

from .hints import hints
from .line_endings import TextLine, converted, dominant, endings, joined, lines_of
from .matching import PASSES, exact, windows
from .splice import spliced

MOST_PLACES = 5


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
    for edit in edits:
        text = _applied(text, edit, path)
    return text


def _applied(text: str, edit: Edit, path: str) -> str:
    if not edit.old:
        raise EditError(f"{edit.label} of {path}: old_text must not be empty")
    usual = dominant(text)
    # If search and replacement have different line endings, the edit is about the endings.
    converting = bool(endings(edit.old) and endings(edit.new)) and (
        endings(edit.old) != endings(edit.new)
    )
    new = edit.new
    # Mixed endings in the replacement can only be intended, so they stay.
    if not converting and len(endings(new)) == 1:
        new = converted(new, usual)
    spans = exact(text, edit.old, any_ending=not converting)
    if spans:
        numbers = [text.count("\n", 0, start) + 1 for start, _ in spans[: MOST_PLACES + 1]]
        _only_one(edit, path, len(spans), numbers)
        # From the end, so that the earlier spans stay valid.
        for start, end in reversed(spans):
            text = text[:start] + new + text[end:]
        return text
    lines, search = lines_of(text), lines_of(edit.old)
    # The tolerant keys ignore line endings, which are what a converting edit is about.
    if not converting:
        for key in PASSES:
            places = windows(lines, search, key)
            if places:
                _only_one(edit, path, len(places), [at + 1 for at in places])
                return _spliced(lines, places, (search, lines_of(new)), usual)
    said = hints(text, lines, search, edit.new)
    raise EditError(f"{edit.label} of {path}: old_text was not found in file. {said}".rstrip())


def _spliced(
    lines: list[TextLine],
    places: Sequence[int],
    sides: tuple[list[TextLine], list[TextLine]],
    usual: str,
) -> str:
    search, new = sides
    # The search text gets the file's endings: a difference in them would otherwise appear to
    # `spliced` as an intended change.
    search = [line._replace(end=usual if line.end else "") for line in search]
    for at in reversed(places):
        end = at + len(search)
        lines[at:end] = spliced(lines[at:end], search, new, usual)
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
