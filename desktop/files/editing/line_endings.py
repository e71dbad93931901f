"""Lossless splitting of a text into lines with indentation, trailing blanks and endings."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

BLANKS = " \t"

_LINE = re.compile(r"([^\n]*?)(\r?\n|\Z)")
_BREAK = re.compile(r"\r?\n")


class TextLine(NamedTuple):
    """One line in four parts, whose concatenation is the line."""

    lead: str
    text: str
    trail: str
    end: str
    """``\\n``, ``\\r\\n``, or nothing for a last line without one."""

    @property
    def blank(self) -> bool:
        """True if the line contains only white space."""
        return not self.text

    def __str__(self) -> str:
        return self.lead + self.text + self.trail + self.end


def lines_of(text: str) -> list[TextLine]:
    """Split a text into lines; a final newline begins no further line."""
    return [_line(m[1], m[2]) for m in _LINE.finditer(text) if m[0]]


def joined(lines: Sequence[TextLine]) -> str:
    """Join lines to a text."""
    return "".join(map(str, lines))


def endings(text: str) -> set[str]:
    """Return the set of line endings in a text."""
    return set(_BREAK.findall(text))


def ending_at(text: str, position: int) -> str:
    """Return the ending of the line at a position; that of the line before if it has none."""
    at = text.find("\n", position)
    if at < 0:
        at = text.rfind("\n", 0, position)
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def ended(
    new: Sequence[TextLine], search: Sequence[TextLine], ends: Sequence[str]
) -> list[TextLine]:
    """Return ``new`` with the endings of the file's lines that it replaces.

    ``search`` has the text of these lines, ``ends`` their endings. A line that is in ``search`` too
    gets its ending, a changed one that of the line in its place, an inserted one that of the line
    before it. Lines without ending keep none.
    """
    # Mixed endings in the replacement can only be intended, so they stay.
    if len({line.end for line in new if line.end}) != 1:
        return list(new)
    given = [ends[0]] * len(new)
    if len(set(ends)) > 1:
        old_texts, new_texts = [line.text for line in search], [line.text for line in new]
        matcher = SequenceMatcher(None, old_texts, new_texts, autojunk=False)
        for _, old_from, old_to, new_from, new_to in matcher.get_opcodes():
            for at in range(new_from, new_to):
                replaced = min(old_from + at - new_from, old_to - 1)
                given[at] = ends[max(replaced, 0)]
    return [line._replace(end=line.end and end) for line, end in zip(new, given, strict=True)]


def _line(body: str, end: str) -> TextLine:
    middle = body.lstrip(BLANKS)
    lead = body[: len(body) - len(middle)]
    text = middle.rstrip(BLANKS)
    return TextLine(lead, text, middle[len(text) :], end)
