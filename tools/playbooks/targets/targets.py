"""Search for the target of a step among the widgets of a screen and the places of its patch. Pure.

A target is found by the first of these that it has:

1. *Identity*: role and name, and the texts near it. Names are compared exactly, then without
   differences that a reader does not see, then with small differences. The next comparison is only
   made if the one before found no widget, and a result counts only if it is a single widget.
   Numbers must be equal in each. Texts near it choose among several widgets; all of them must be
   on the screen, except for a widget that is the only one of its name: then one suffices.
2. *Patch*: the only place of the screen that looks like the picture.
3. *Point*, of a target that has nothing else.

An ambiguous target is a mismatch, never a guess: the result then has the candidates. Widgets that
are disabled, or covered by another window or by a dialog, are not found.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from deskhand.desktop.geometry import Point
from deskhand.desktop.targets.nearness import nearest, normalised
from deskhand.desktop.targets.patch_matches import PatchMatches
from deskhand.desktop.targets.widgets import ShownWidget, one_line
from deskhand.tools.playbooks.playbook import Target

_SIMILAR = 0.85
"""Least similarity of two names (``difflib``) that count as one with a small difference."""
_SHORTEST_SIMILAR = 5
"""Characters of the shortest name that may differ: of short ones each character counts."""
_ALIKE = 0.9
"""Least score of places that may be the target; what is less like it is another thing."""
_MOST_SEEN = 3
_LEAST_LIKENESS = 0.4
_LONGEST = 80
_NUMBER = re.compile(r"\d+")

_KINDS = {
    **dict.fromkeys(("entry", "textbox", "textfield", "input", "field", "textarea"), "entry"),
    **dict.fromkeys(("passwordtext", "searchbox", "editbar", "terminal"), "entry"),
    **dict.fromkeys(("button", "pushbutton", "togglebutton", "switch"), "button"),
    **dict.fromkeys(("combobox", "dropdown", "select", "listbox"), "combobox"),
    **dict.fromkeys(("menuitem", "checkmenuitem", "radiomenuitem", "menu"), "menuitem"),
    **dict.fromkeys(("pagetab", "tab"), "tab"),
    **dict.fromkeys(("radiobutton", "radio"), "radio"),
    **dict.fromkeys(("tablecell", "cell", "gridcell"), "cell"),
}
"""Roles that people and toolkits use for the same kind of widget."""


@dataclass(frozen=True)
class Found:
    """The place of a target."""

    point: Point
    """In native pixels; inside the widget, if it is one."""
    by: Literal["identity", "patch", "point"]
    widget: ShownWidget | None = None


@dataclass(frozen=True)
class Missing:
    """The target is not on the screen."""

    searched: tuple[str, ...]
    """What was searched for, one phrase for each way."""
    seen: tuple[str, ...]
    """The most similar widgets that the screen shows, the best first."""

    def __str__(self) -> str:
        seen = f"; the nearest there is: {', '.join(self.seen)}" if self.seen else ""
        return f"not found: {' and '.join(self.searched)}{seen}"


@dataclass(frozen=True)
class Ambiguous:
    """Several places may be the target."""

    searched: tuple[str, ...]
    candidates: tuple[str, ...]

    def __str__(self) -> str:
        return f"not clear: {' and '.join(self.searched)} may be {', or '.join(self.candidates)}"


Search = Found | Missing | Ambiguous


def find_target(
    target: Target,
    widgets: Iterable[ShownWidget],
    patch: PatchMatches | None = None,
    point: Point | None = None,
) -> Search:
    """Return the place of a target, or why there is none.

    ``widgets`` are those that can be clicked (see :func:`uncovered`). ``patch`` is the result of
    the search for the target's patch, and ``point`` the target's point, both in native pixels.
    """
    known = tuple(widgets)
    found: Search = Missing((), ())
    if target.has_identity:
        found = _by_identity(target, known)
    if isinstance(found, Missing) and patch is not None:
        found = _by_patch(patch, found)
    if not (target.has_identity or target.patch) and point is not None:
        return Found(point, "point")
    return found


def described(target: Target) -> str:
    """Return a target in words, such as ``button "Save" near "Orders"``."""
    words = target.role or "widget"
    if target.name:
        words += f' "{target.name}"'
    if target.near:
        words += " near " + ", ".join(f'"{text}"' for text in target.near)
    return words


def _by_identity(target: Target, known: Sequence[ShownWidget]) -> Search:
    searched = (described(target),)
    for matches in (_equal, _normalised_equal, _similar):
        candidates = _outer([one for one in known if matches(target, one)])
        if not target.role:
            candidates = [one for one in candidates if one.takes_input] or candidates
        usable = [one for one in candidates if "disabled" not in one.states]
        if not usable and candidates:
            return Missing(searched, tuple(map(_line, candidates[:_MOST_SEEN])))
        if usable:
            return _chosen(target, usable, known, searched)
    return Missing(searched, _seen(target, known))


def _chosen(
    target: Target,
    candidates: Sequence[ShownWidget],
    known: Sequence[ShownWidget],
    searched: tuple[str, ...],
) -> Search:
    """Return the candidate that the nearby texts select."""
    winners = [nearest(text, candidates, known) for text in target.near]
    present = [one for one in winners if one]
    remaining = [one for one in candidates if all(one in those for those in present)]
    is_only = len(candidates) == 1 and bool(target.name)
    is_complete = len(present) == len(winners)
    if len(remaining) == 1 and (is_complete or (is_only and present)):
        return Found(remaining[0].middle, "identity", remaining[0])
    if len(candidates) == 1:
        return Missing(searched, (_line(candidates[0]),))
    return Ambiguous(searched, tuple(map(_line, (remaining or candidates)[:_MOST_SEEN])))


def _by_patch(patch: PatchMatches, before: Missing) -> Search:
    searched = (*before.searched, "its picture")
    if patch.unique:
        return Found(patch.matches[0].point, "patch")
    alike = [one for one in patch.matches if one.score >= _ALIKE]
    if len(alike) > 1:
        places = tuple(
            f"the place {one.point.x},{one.point.y} ({one.score:.0%} alike)"
            for one in alike[:_MOST_SEEN]
        )
        return Ambiguous(searched, places)
    return Missing(searched, before.seen)


def _equal(target: Target, widget: ShownWidget) -> bool:
    return (not target.role or target.role == widget.role) and (
        not target.name or one_line(target.name) == widget.name
    )


def _normalised_equal(target: Target, widget: ShownWidget) -> bool:
    return _is_kind(target, widget) and (
        not target.name or normalised(target.name) == normalised(widget.name)
    )


def _similar(target: Target, widget: ShownWidget) -> bool:
    wanted, name = normalised(target.name), normalised(widget.name)
    return (
        _is_kind(target, widget)
        and min(len(wanted), len(name)) >= _SHORTEST_SIMILAR
        and _NUMBER.findall(wanted) == _NUMBER.findall(name)
        and _similarity(wanted, name) >= _SIMILAR
    )


def _is_kind(target: Target, widget: ShownWidget) -> bool:
    if not target.role:
        return True
    wanted, kind = _kind(target.role), _kind(widget.role)
    if wanted == "entry" and widget.role == "text":
        # GTK and Qt call their fields so, and others call any text so.
        return widget.takes_input
    return wanted == kind


def _kind(role: str) -> str:
    joined = re.sub(r"[\s_-]+", "", role.casefold())
    return _KINDS.get(joined, joined)


def _outer(widgets: list[ShownWidget]) -> list[ShownWidget]:
    """Leave out widgets of the same name around or in another: all of them are one for a reader.

    Of nested ones the one that takes input stays, or else the outermost.
    """
    ranked = sorted(widgets, key=lambda one: (not one.takes_input, len(one.path), one.path))
    kept: list[ShownWidget] = []
    for one in ranked:
        nested = any(
            normalised(one.name) == normalised(other.name)
            and (one.is_inside(other) or other.is_inside(one))
            for other in kept
        )
        if not nested:
            kept.append(one)
    return sorted(kept, key=lambda one: one.path)


def _seen(target: Target, known: Iterable[ShownWidget]) -> tuple[str, ...]:
    """Return the widgets that are most like the target, for people."""
    likeness = [(_likeness(target, one), one) for one in known if one.name]
    ranked = sorted(
        (one for one in likeness if one[0] > _LEAST_LIKENESS),
        key=lambda one: (-one[0], one[1].path),
    )
    return tuple(dict.fromkeys(_line(one) for _, one in ranked))[:_MOST_SEEN]


def _likeness(target: Target, widget: ShownWidget) -> float:
    same_kind = 0.2 if target.role and _is_kind(target, widget) else 0.0
    return _similarity(normalised(target.name), normalised(widget.name)) + same_kind


def _similarity(some: str, other: str) -> float:
    matcher = difflib.SequenceMatcher(None, some, other, autojunk=False)
    # An upper bound that is cheap: most pairs of names have nothing in common.
    return 0.0 if matcher.quick_ratio() < _LEAST_LIKENESS else matcher.ratio()


def _line(widget: ShownWidget) -> str:
    x, y = widget.middle
    name = f' "{widget.name[:_LONGEST]}"' if widget.name else ""
    disabled = ", which is disabled" if "disabled" in widget.states else ""
    return f"{widget.role}{name} at {x},{y}{disabled}"
