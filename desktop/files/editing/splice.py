"""Replaces lines that were matched tolerantly, and keeps the file's own white space.

The caller's search text differs from the file in white space. Where search and replacement agree
with each other, the caller intended no change, and the file's own bytes stay. Where they differ,
the change is translated into the file's indentation style.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .indentation import translated, unit_of
from .line_endings import TextLine, ended


@dataclass(frozen=True)
class Alignment:
    """Correspondence between replacement lines and search lines."""

    prefix: int
    """Number of first lines that are equal on both sides, except for white space."""
    suffix: int
    paired: int
    """Number of lines after the prefix that replace each other in order."""


def aligned(search: Sequence[TextLine], new: Sequence[TextLine]) -> Alignment:
    """Return the alignment of common prefix and suffix."""
    shorter = min(len(search), len(new))
    prefix = 0
    while prefix < shorter and search[prefix].text == new[prefix].text:
        prefix += 1
    suffix = 0
    while suffix < shorter - prefix and search[-1 - suffix].text == new[-1 - suffix].text:
        suffix += 1
    return Alignment(prefix, suffix, shorter - prefix - suffix)


def spliced(
    found: Sequence[TextLine], search: Sequence[TextLine], new: Sequence[TextLine], ending: str
) -> list[TextLine]:
    """Return the lines that replace ``found``.

    ``ending`` is that of the line before, for a last line of the file that has none itself.
    """
    ends = [line.end for line in found]
    ends[-1] = ends[-1] or ([ending, *ends])[-2]
    new = ended(new, search, ends)
    splice = _Splice(found, search, new)
    lines = [splice.line(number) for number in range(len(new))]
    if not lines:
        return []
    inner = [line if line.end else line._replace(end=ends[-1]) for line in lines]
    # Without a newline at its end, the last line of the file keeps none. Any other last line
    # needs one, or it would merge with the line after it.
    last = "" if not found[-1].end else lines[-1].end or found[-1].end
    return [*inner[:-1], inner[-1]._replace(end=last)]


class _Splice:
    def __init__(
        self, found: Sequence[TextLine], search: Sequence[TextLine], new: Sequence[TextLine]
    ) -> None:
        self._found, self._search, self._new = found, search, new
        self._alignment = aligned(search, new)
        self._caller_unit = unit_of([*search, *new])
        self._file_unit = unit_of(found)
        self._in_file_manner = self._is_in_file_manner()

    def line(self, number: int) -> TextLine:
        new = self._new[number]
        index = self._counterpart(number)
        if index is None:
            return self._inserted(new)
        found, search = self._found[index], self._search[index]
        if new.blank and not (search.blank and new.lead == search.lead):
            return new
        return TextLine(
            self._lead(new, search, found),
            _kept(found.text, search.text, new.text),
            _kept(found.trail, search.trail, new.trail),
            new.end,
        )

    def _counterpart(self, number: int) -> int | None:
        if number < self._alignment.prefix + self._alignment.paired:
            return number
        from_end = len(self._new) - number
        return len(self._search) - from_end if from_end <= self._alignment.suffix else None

    def _is_in_file_manner(self) -> bool:
        """Return True if the replacement has the file's indentation already, or a new one."""
        pairs = [
            (self._found[index].lead, self._search[index].lead, new.lead)
            for number, new in enumerate(self._new)
            if (index := self._counterpart(number)) is not None and not new.blank
        ]
        pairs = [pair for pair in pairs if pair[0] != pair[1]]
        # A line on which both styles differ shows which one the replacement is in.
        if any(new == search for _, search, new in pairs):
            return False
        if any(new == found for found, _, new in pairs):
            return True
        # Without such a line, an indentation that only the search text has shows the caller's
        # style.
        sides = zip(self._search, self._found, strict=True)
        foreign = {search.lead for search, found in sides if search.lead != found.lead}
        return not any(new.lead in foreign for new in self._new if not new.blank)

    def _lead(self, new: TextLine, search: TextLine, found: TextLine) -> str:
        if new.lead == search.lead:
            return found.lead
        if self._in_file_manner:
            return new.lead
        lead = translated(new.lead, search.lead, found.lead, self._caller_unit, self._file_unit)
        return new.lead if lead is None else lead

    def _inserted(self, new: TextLine) -> TextLine:
        if new.blank or self._in_file_manner:
            return new
        index = self._reference(new)
        search, found = self._search[index], self._found[index]
        lead = translated(new.lead, search.lead, found.lead, self._caller_unit, self._file_unit)
        return new._replace(lead=found.lead if lead is None else lead)

    def _reference(self, new: TextLine) -> int:
        before = self._alignment.prefix - 1
        after = len(self._search) - self._alignment.suffix
        has_after, has_before = self._alignment.suffix > 0, before >= 0
        # A neighbour of the same indentation needs no translation between the two styles.
        if has_after and new.lead == self._search[after].lead:
            return after
        if has_before and new.lead == self._search[before].lead:
            return before
        if has_after:
            return after
        return before if has_before else len(self._search) - 1


def _kept(found: str, search: str, new: str) -> str:
    return found if search == new else new
