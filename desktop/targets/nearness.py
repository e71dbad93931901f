"""Nearness of texts to widgets, as a person who reads the screen sees it. Pure.

A text belongs to a widget if it is the name of something around it, or stands beside it: in the
same row or the same column. Between several widgets of one name, such as the buttons of the rows of
a table, a text is near the one that it stands closest to. A text before a widget (to its left, or
above) is more likely its label than one after it, so distances after it count more.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .widgets import ShownWidget, one_line

LONGEST = 60
"""Characters of a text that is recorded as near; longer ones are no labels."""
MOST = 2
"""Texts that are recorded as near."""
_AFTER = 3
_LEAST_LEAD = 1.25
"""The closest widget must be this many times as close as the next one, or both are."""
_DIAGONAL_REACH = 200
_LABEL_REACH = 150
_MOST_TRIED = 40


class Distance(NamedTuple):
    """How far a text is from a widget; a smaller one is nearer."""

    kind: int
    """0: around it, 1: in its row or column, 2: elsewhere."""
    pixels: int


def normalised(text: str) -> str:
    """Return a text without differences that a reader does not see.

    These are upper case, spaces, and marks such as ``:``, ``…`` and ``*`` at its end.
    """
    return one_line(text).casefold().rstrip(" :.…*").lstrip(" *")


def distance(widget: ShownWidget, text: ShownWidget) -> Distance:
    """Return how far a widget with a text is from another widget."""
    if widget.is_inside(text):
        return Distance(0, 0)
    here, there = widget.region, text.region
    across = max(there.left - here.right, here.left - there.right, 0)
    down = max(there.top - here.bottom, here.top - there.bottom, 0)
    is_after = there.left >= here.right or there.top >= here.bottom
    pixels = (across + down) * (_AFTER if is_after else 1)
    in_row = _overlap(here.top, here.bottom, there.top, there.bottom)
    in_column = _overlap(here.left, here.right, there.left, there.right)
    return Distance(1 if in_row or in_column else 2, pixels)


def nearest(
    text: str, candidates: Iterable[ShownWidget], widgets: Iterable[ShownWidget]
) -> tuple[ShownWidget, ...]:
    """Return the candidates that a text is nearest to, several if it is not clear.

    The result is empty if no widget has this text, or if it is too far from all candidates.
    """
    wanted = normalised(text)
    named = [(one, normalised(one.name)) for one in widgets if one.name]
    texts = [one for one, name in named if name == wanted]
    texts = texts or [one for one, name in named if _has_words(name, wanted)]
    found: list[tuple[Distance, ShownWidget]] = []
    candidates = tuple(candidates)
    # Of several widgets the one in the row of a text may be missing: its neighbour is another one.
    farthest = 2 if len(candidates) == 1 else 1
    for candidate in candidates:
        distances = [
            distance(candidate, one)
            for one in texts
            if one != candidate and not one.is_inside(candidate) and _together(one, candidate)
        ]
        if distances and min(distances).kind <= farthest and not _is_far(min(distances)):
            found.append((min(distances), candidate))
    if not found:
        return ()
    best = min(where for where, _ in found)
    return tuple(
        one
        for where, one in found
        if where.kind == best.kind and where.pixels <= _LEAST_LEAD * best.pixels + 2
    )


def near_texts(
    widget: ShownWidget, rivals: Sequence[ShownWidget], widgets: Iterable[ShownWidget]
) -> tuple[str, ...]:
    """Return the texts by which a reader would tell where a widget is, the best first.

    ``rivals`` are the other widgets of its role and name. If there are any, only texts count that
    are near this one and none of them. Otherwise only labels count: texts with numbers, or further
    away, often differ in the next run.
    """
    known = tuple(widgets)
    inputs = [one for one in known if one.takes_input]
    found: list[tuple[bool, bool, Distance, str]] = []
    for one in known:
        if not one.name or len(one.name) > LONGEST or one == widget or one.is_inside(widget):
            continue
        if not _together(one, widget):
            continue
        where = distance(widget, one)
        is_same = normalised(one.name) == normalised(widget.name)
        # A name around everything, such as the window's title, does not tell where a widget is.
        if where.kind != 1 or is_same or one.holds_text:
            continue
        is_input = one.takes_input or any(one.is_inside(other) for other in inputs)
        has_digits = any(character.isdigit() for character in one.name)
        if rivals or not (is_input or has_digits or where.pixels > _LABEL_REACH):
            found.append((is_input, has_digits, where, one.name))
    texts = list(dict.fromkeys(name for *_, name in sorted(found)))
    if rivals:
        every = (widget, *rivals)
        texts = [one for one in texts[:_MOST_TRIED] if nearest(one, every, known) == (widget,)]
    return tuple(texts[:MOST])


def _together(some: ShownWidget, other: ShownWidget) -> bool:
    """Return True if both are in one window."""
    return some.path[:2] == other.path[:2]


def _overlap(start: int, end: int, other_start: int, other_end: int) -> bool:
    """Return True if the middle of one range lies in the other."""
    middle, other_middle = (start + end) / 2, (other_start + other_end) / 2
    return start <= other_middle <= end or other_start <= middle <= other_end


def _is_far(where: Distance) -> bool:
    return where.kind == 2 and where.pixels > _DIAGONAL_REACH


def _has_words(name: str, wanted: str) -> bool:
    return bool(wanted) and f" {wanted} " in f" {name} "
