"""Translates indentation from the caller's unit into that of the file."""

from collections.abc import Iterable
from math import gcd

from .line_endings import TextLine


def unit_of(lines: Iterable[TextLine]) -> str | None:
    """Return one level of indentation, a tab or spaces; None if the lines do not determine it."""
    leads = {line.lead for line in lines if line.lead and not line.blank}
    if not leads:
        return None
    if all(set(lead) == {"\t"} for lead in leads):
        return "\t"
    if all(set(lead) == {" "} for lead in leads):
        return " " * gcd(*map(len, leads))
    return None


def level_of(lead: str, unit: str) -> int | None:
    """Return the number of levels of an indentation; None if it is not a multiple of the unit."""
    count, rest = divmod(len(lead), len(unit))
    return count if not rest and lead == unit * count else None


def translated(
    lead: str, searched: str, found: str, caller: str | None, file: str | None
) -> str | None:
    """Return ``lead`` in the indentation style of the file.

    A reference line connects both sides: the caller indented it by ``searched``, the file by
    ``found``. None if units or levels are undetermined.
    """
    if caller is None or file is None:
        return None
    levels = level_of(lead, caller), level_of(searched, caller), level_of(found, file)
    if None in levels:
        return None
    inner, reference, base = (level or 0 for level in levels)
    level = base + inner - reference
    # Negative if the new line is further left than the file's outermost level.
    return file * level if level >= 0 else None
