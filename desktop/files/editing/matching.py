"""Find the text that an edit means, first as it is written, then with growing patience."""

import re
from collections.abc import Callable, Sequence

from .line_endings import TextLine

Key = Callable[[TextLine], str]

_FOLDED = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys(
            "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
        ),
    }
)


def without_trail(line: TextLine) -> str:
    """Compare lines but for blanks at their ends."""
    return line.lead + line.text


def trimmed(line: TextLine) -> str:
    """Compare lines but for blanks around them."""
    return line.text


def folded(line: TextLine) -> str:
    """Compare lines but for blanks around them and typographic punctuation."""
    return line.text.translate(_FOLDED).strip()


PASSES: tuple[Key, ...] = (without_trail, trimmed, folded)
"""In this order; the first that finds anything decides."""


def exact(text: str, search: str, *, any_ending: bool) -> list[tuple[int, int]]:
    """Return where ``search`` stands in ``text``, without overlaps.

    With ``any_ending`` a newline stands for one with a carriage return too, and the other way.
    """
    pattern = re.escape(search)
    if any_ending:
        pattern = r"\r?\n".join(map(re.escape, re.split(r"\r?\n", search)))
    return [match.span() for match in re.finditer(pattern, text)]


def windows(lines: Sequence[TextLine], search: Sequence[TextLine], key: Key) -> list[int]:
    """Return the first line of each place where ``search`` stands, without overlaps.

    Search lines that are all blank stand nowhere: they would match at every gap.
    """
    if not search or all(line.blank for line in search):
        return []
    wanted = [key(line) for line in search]
    given = [key(line) for line in lines]
    found: list[int] = []
    at = 0
    while at + len(wanted) <= len(given):
        if given[at : at + len(wanted)] == wanted:
            found.append(at)
            at += len(wanted)
        else:
            at += 1
    return found
