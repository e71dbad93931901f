"""Finds the text of an edit: exactly, then with increasing tolerance for white space."""

import re
from collections.abc import Callable, Sequence

from .line_endings import TextLine

Key = Callable[[TextLine], str]

# One character for one, as models exchange typographic and ASCII punctuation when they quote.
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
    """Return the key that ignores trailing blanks."""
    return line.lead + line.text


def trimmed(line: TextLine) -> str:
    """Return the key that ignores surrounding blanks."""
    return line.text


def folded(line: TextLine) -> str:
    """Return the key that ignores surrounding blanks and typographic punctuation."""
    return line.text.translate(_FOLDED).strip()


# The strictest key is first: a text that one line matches exactly must not become ambiguous because
# another line matches without its indentation.
PASSES: tuple[Key, ...] = (without_trail, trimmed, folded)
"""Keys in the order of trial; the first with a match decides."""


def exact(text: str, search: str, *, any_ending: bool) -> list[tuple[int, int]]:
    """Return the non-overlapping spans of ``search`` in ``text``.

    With ``any_ending``, ``\\n`` and ``\\r\\n`` match each other.
    """
    pattern = re.escape(search)
    if any_ending:
        pattern = r"\r?\n".join(map(re.escape, re.split(r"\r?\n", search)))
    return [match.span() for match in re.finditer(pattern, text)]


def windows(lines: Sequence[TextLine], search: Sequence[TextLine], key: Key) -> list[int]:
    """Return the first line of each non-overlapping match of ``search``.

    Search lines that are all blank match nowhere, as they would match at every gap.
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
