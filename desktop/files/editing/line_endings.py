"""Lossless splitting of a text into lines with indentation, trailing blanks and endings."""

import re
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


def joined(lines: list[TextLine]) -> str:
    """Join lines to a text."""
    return "".join(map(str, lines))


def endings(text: str) -> set[str]:
    """Return the set of line endings in a text."""
    return set(_BREAK.findall(text))


def dominant(text: str) -> str:
    """Return the most frequent ending; on a tie the newline alone."""
    with_return = text.count("\r\n")
    return "\r\n" if with_return > text.count("\n") - with_return else "\n"


def converted(text: str, ending: str) -> str:
    """Convert all line endings of a text to ``ending``."""
    return _BREAK.sub(ending, text)


def _line(body: str, end: str) -> TextLine:
    middle = body.lstrip(BLANKS)
    lead = body[: len(body) - len(middle)]
    text = middle.rstrip(BLANKS)
    return TextLine(lead, text, middle[len(text) :], end)
