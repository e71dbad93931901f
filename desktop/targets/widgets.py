"""The widgets of a compact accessibility tree as a flat list. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.accessibility.lines import INTERACTIVE
from deskhand.desktop.geometry import Point, Region

Json = dict[str, Any]

_MODAL = "modal"
_DOCUMENT = "document"


@dataclass(frozen=True)
class ShownWidget:
    """One visible widget; regions are in native pixels."""

    role: str
    name: str
    """On one line; empty where it has none."""
    region: Region
    states: frozenset[str]
    path: tuple[int, ...]
    """Positions in the tree from the root on: that of an ancestor is its beginning."""

    @property
    def takes_input(self) -> bool:
        """True if it takes clicks or keys."""
        return self.role in INTERACTIVE or "editable" in self.states

    @property
    def holds_text(self) -> bool:
        """True if its content is text that people or agents type."""
        return "editable" in self.states or self.role in {"entry", "password text", "spin button"}

    @property
    def middle(self) -> Point:
        """The middle of its visible part."""
        left, top, right, bottom = self.region
        return Point((left + right) // 2, (top + bottom) // 2)

    def is_inside(self, other: "ShownWidget") -> bool:
        """Return True if ``other`` is an ancestor."""
        length = len(other.path)
        return length < len(self.path) and self.path[:length] == other.path


def widgets_of(roots: Iterable[Json]) -> tuple[ShownWidget, ...]:
    """Return the widgets that have a rectangle, each before its content.

    ``roots`` are the applications of ``GET /desktop/accessibility``.

    Raises:
        ValueError: If they have another form.
    """
    try:
        return tuple(_flat(roots, ()))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"this is no accessibility tree: {error!r}") from error


@dataclass(frozen=True)
class ActiveWindow:
    """The window with the keyboard; other windows are assumed to be below it."""

    title: str
    region: Region | None = None
    """In native pixels; ``None`` if it is not known."""

    def among(self, widgets: Iterable[ShownWidget]) -> ShownWidget | None:
        """Return its widget; ``None`` if its application does not show its widgets."""
        title = one_line(self.title)
        return next((one for one in widgets if len(one.path) == 2 and one.name == title), None)


def uncovered(
    widgets: Iterable[ShownWidget], active: ActiveWindow | None
) -> tuple[ShownWidget, ...]:
    """Return the widgets whose middle no window and no dialog in a page covers.

    A dialog that is modal in its page covers the rest of the page.
    """
    known = tuple(widgets)
    front = None if active is None else active.among(known)
    region = None if active is None else active.region
    if front is not None:
        region = front.region
    covered_documents = [
        (document, dialog)
        for dialog in known
        for document in known
        if _MODAL in dialog.states
        and document.role.startswith(_DOCUMENT)
        and dialog.is_inside(document)
    ]

    def is_covered(widget: ShownWidget) -> bool:
        is_in_front = front is not None and widget.path[:2] == front.path
        if region is not None and not is_in_front and region.holds(widget.middle):
            return True
        return any(
            widget.is_inside(document) and widget != dialog and not widget.is_inside(dialog)
            for document, dialog in covered_documents
        )

    return tuple(one for one in known if not is_covered(one))


def one_line(text: str) -> str:
    """Return a text without line ends and repeated spaces."""
    return " ".join(text.split())


def _flat(entries: Iterable[Json], above: tuple[int, ...]) -> Iterator[ShownWidget]:
    for index, entry in enumerate(entries):
        path = (*above, index)
        if "rectangle" in entry:
            left, top, right, bottom = map(int, entry["rectangle"])
            region = Region(left, top, right, bottom)
            if not region.is_empty:
                name = one_line(str(entry.get("name", "")))
                states = frozenset(map(str, entry.get("states", ())))
                yield ShownWidget(str(entry["role"]), name, region, states, path)
        yield from _flat(entry.get("children", ()), path)
