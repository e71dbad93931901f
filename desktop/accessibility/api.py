"""Routes of the accessibility tree, whose refs a click may name instead of a point.

The tree is served as JSON, and as text with one line for each widget. Pages of a text after the
first come from the tree that the first one was made of, so that they fit together.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.geometry import Region, Size, model_size
from deskhand.desktop.http_errors import answered
from deskhand.desktop.lease.access import AccessControl
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .bus import ConnectBus
from .lines import page_of_lines, widget_lines
from .reader import Cut, widgets
from .tree import Tree, compact, names, pointed

Json = dict[str, Any]

PREFIX = "/api/v0/desktop"
MARK = "accessibility"
"""File in the ``share`` directory; a browser that starts while it exists enables AT-SPI."""


class AccessibilityService:
    """Reads the tree and keeps the rectangles of the refs of the newest one."""

    def __init__(
        self,
        environment: Callable[[], Mapping[str, str]],
        size: Size,
        share: Path,
        connect: ConnectBus | None = None,
    ) -> None:
        self._connect = connect
        self._environment = environment
        self._size = size
        self._mark = share / MARK
        self._rectangles: Mapping[str, Region] = {}
        self._roots: Sequence[Json] = ()
        self._cut: frozenset[Cut] = frozenset()

    def read(self) -> Json:
        """Read the widgets of all applications. Blocks.

        Raises:
            NoAccessibility: If AT-SPI is not available.
        """
        tree, cut, note = self._tree()
        self._rectangles, self._roots, self._cut = tree.rectangles, tree.roots, cut
        answer: Json = {
            "space": {"name": "native", **self._size._asdict()},
            **_completeness(cut),
            "applications": list(tree.roots),
        }
        return answer | ({"note": note} if note else {})

    def names(self) -> tuple[str, ...]:
        """Return the names of all visible widgets. Blocks; the refs stay those of the last read.

        Raises:
            NoAccessibility: If AT-SPI is not available.
        """
        return tuple(names(self._tree()[0].roots))

    def entries(self) -> Sequence[Json]:
        """Return the roots of the tree. Blocks; the refs stay those of the last read.

        Raises:
            NoAccessibility: If AT-SPI is not available.
        """
        return self._tree()[0].roots

    def _tree(self) -> tuple[Tree, frozenset[Cut], str]:
        # Chromium builds its accessibility tree only on request, as that slows every page down.
        first = not self._mark.exists()
        self._mark.touch(0o644)
        found, cut = widgets(self._environment(), self._connect)
        note = "A browser that runs already reports its pages after its next start."
        return compact(found, self._size), cut, note if first else ""

    def read_text(self, interactive: bool, offset: int) -> Json:
        """Return a page of lines; reads the widgets if it is the first one. Blocks.

        Raises:
            NoAccessibility: If AT-SPI is not available.
            InvalidAction: If there is no such page of what was read last.
        """
        answer: Json = {} if offset else self.read()
        scaled = model_size(self._size)
        lines = widget_lines(self._roots, self._size, scaled, interactive=interactive)
        if offset and offset >= len(lines):
            raise InvalidAction(
                f"offset: there are {len(lines)} lines", "Read the first page again."
            )
        page = page_of_lines(lines, offset)
        found: Json = {
            "space": {"name": "model", **scaled._asdict()},
            "text": page.text,
            "lines": page.lines,
            **_completeness(self._cut),
        }
        if page.next_offset is not None:
            found["next_offset"] = page.next_offset
        return found | ({"note": answer["note"]} if "note" in answer else {})

    def pointed(self, body: Json) -> Json:
        """Replace the refs of a body by points; raises :class:`InvalidAction`."""
        return pointed(body, self._rectangles, self._size)


def _completeness(cut: frozenset[Cut]) -> Json:
    return {"complete": cut <= {Cut.NAMES}, "cut": sorted(cut)}


def router(shown: AccessibilityService, access: AccessControl) -> APIRouter:
    """Return the route; ``access`` decides if the screen may be viewed."""
    routes = LazyRouter(prefix=PREFIX, tags=["desktop"])
    lock = asyncio.Lock()

    @routes.get("/accessibility", responses={501: {"description": "There is no such tree here."}})
    async def accessibility() -> Json:
        """Roles, names and native rectangles of what applications show.

        An action takes a `ref` of the newest tree instead of a `coordinate`. Roles have the names
        of AT-SPI 2.56, such as `button`, whatever release is installed.
        """
        with answered():
            # Reads follow one another, because refs belong to the tree that was read last.
            async with lock:
                access.check_view()
                tree = await asyncio.to_thread(shown.read)
                # A person may have taken control in privacy mode during the read.
                access.check_view()
                return tree

    @routes.get("/accessibility/text", responses={501: {"description": "There is no such tree."}})
    async def accessibility_text(
        interactive: bool = False, offset: Annotated[int, Query(ge=0)] = 0
    ) -> Json:
        """The same as text: one line a widget, with role, name, ref and point.

        `interactive` leaves out what takes neither clicks nor keys. A page has at most 50,000
        characters; `next_offset` begins the next one of the same tree.
        """
        with answered():
            async with lock:
                access.check_view()
                page = await asyncio.to_thread(shown.read_text, interactive, offset)
                access.check_view()
                return page

    return routes
