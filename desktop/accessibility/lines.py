"""The widget tree as text, one line a widget, for readers that count characters. Pure.

::

    application "Chromium"
    heading "Open requests" [e4] 160,92
    text "Approve 3" [e40] 430,230
    button "Approve 3" [e41] 512,230 disabled

A line has the role, the name, the ref and the middle of the visible part, in the space of the
model, and then the states. Of nested widgets with one name only one has a line: the one that takes
clicks or keys, or else the outermost. So the text of a button and the table cell around it are
left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.geometry import Point, Region, Size, convert

Json = dict[str, Any]

LARGEST_PAGE = 50_000
"""Characters of one page, the limit that providers set for reading a page."""

INTERACTIVE = frozenset(
    [
        *("button", "check box", "check menu item", "combo box", "date editor", "entry", "icon"),
        *("link", "list item", "menu", "menu item", "page tab", "password text", "radio button"),
        *("radio menu item", "scroll bar", "slider", "spin button", "switch", "toggle button"),
        *("tree item", "push button menu", "editbar"),
    ]
)
"""Roles of AT-SPI 2.56 that take clicks or keys."""


@dataclass(frozen=True)
class TextPage:
    """A part of the lines."""

    text: str
    lines: int
    """Lines of all pages."""
    next_offset: int | None
    """The line with which the next page begins, ``None`` after the last page."""


def widget_lines(
    roots: Iterable[Json], native: Size, scaled: Size, *, interactive: bool = False
) -> tuple[str, ...]:
    """Return a line for each widget of a compact tree, in the order of the tree.

    With ``interactive`` only widgets that take clicks or keys, below the name of their application.
    """
    return tuple(
        line
        for root in roots
        for line in (
            _line(root, native, scaled, "application"),
            *_below(root, native, scaled, interactive),
        )
    )


def page_of_lines(lines: Sequence[str], offset: int, most: int = LARGEST_PAGE) -> TextPage:
    """Return the lines from ``offset`` on that fit into ``most`` characters, at least one."""
    taken: list[str] = []
    size = 0
    for line in lines[offset:]:
        size += len(line) + 1
        if taken and size > most:
            break
        taken.append(line[:most])
    following = offset + len(taken)
    return TextPage("\n".join(taken), len(lines), following if following < len(lines) else None)


def _below(entry: Json, native: Size, scaled: Size, interactive: bool) -> Iterator[str]:
    for child in entry.get("children", ()):
        if _listed(child, interactive) and not _repeats(child, entry):
            yield _line(child, native, scaled, child["role"])
        yield from _below(child, native, scaled, interactive)


def _listed(entry: Json, interactive: bool) -> bool:
    return _is_interactive(entry) or (not interactive and bool(entry.get("name")))


def _repeats(entry: Json, parent: Json) -> bool:
    """Return True if another line has the name of a widget already."""
    if _is_interactive(entry):
        return False
    return entry.get("name") == parent.get("name") or _is_inside(entry, entry.get("name"))


def _is_inside(entry: Json, name: str | None) -> bool:
    """Return True if an interactive widget of that name is the content of a widget."""
    children = [child for child in entry.get("children", ()) if child.get("name") == name]
    return any(_is_interactive(child) or _is_inside(child, name) for child in children)


def _is_interactive(entry: Json) -> bool:
    return entry["role"] in INTERACTIVE or "editable" in entry.get("states", ())


def _line(entry: Json, native: Size, scaled: Size, role: str) -> str:
    words = [role]
    if "name" in entry:
        words.append(f'"{_one_line(entry["name"])}"')
    if "rectangle" in entry:
        left, top, right, bottom = Region(*entry["rectangle"])
        middle = Point((left + right) // 2, (top + bottom) // 2)
        x, y = convert(middle, native, scaled)
        words += [f"[{entry['ref']}]", f"{x},{y}"]
    return " ".join([*words, *entry.get("states", ())])


def _one_line(name: str) -> str:
    """Return a name without line ends, and with quotes that cannot be mistaken for its end."""
    return " ".join(name.split()).replace('"', "'")
