"""Write one side's indentation in the other side's unit."""

from collections.abc import Iterable
from math import gcd

from .line_endings import TextLine


def unit_of(lines: Iterable[TextLine]) -> str | None:
    """Return one step of indentation: a tab, or so many spaces; None if that cannot be told."""
    leads = {line.lead for line in lines if line.lead and not line.blank}
    if not leads:
        return None
    if all(set(lead) == {"\t"} for lead in leads):
        return "\t"
    if all(set(lead) == {" "} for lead in leads):
        return " " * gcd(*map(len, leads))
    return None


def level_of(lead: str, unit: str) -> int | None:
    """Return how many steps deep a line is, None if it is between steps."""
    count, rest = divmod(len(lead), len(unit))
    return count if not rest and lead == unit * count else None


def translated(
    lead: str, searched: str, found: str, caller: str | None, file: str | None
) -> str | None:
    """Return ``lead`` as the file would write it.

    A reference line says how the two sides compare: the caller wrote it with ``searched``, the
    file has it with ``found``. None if the units or the steps do not tell.
    """
    if caller is None or file is None:
        return None
    levels = level_of(lead, caller), level_of(searched, caller), level_of(found, file)
    if None in levels:
        return None
    inner, reference, base = (level or 0 for level in levels)
    level = base + inner - reference
    return file * level if level >= 0 else None
