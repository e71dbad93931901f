"""Route of the accessibility tree, whose refs a click may name instead of a point."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from deskhand.desktop.geometry import Region, Size
from deskhand.desktop.http_errors import answered
from deskhand.desktop.lease.access import AccessControl

from .bus import ConnectBus
from .reader import widgets
from .tree import compact, pointed

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

    def read(self) -> Json:
        """Read the widgets of all applications. Blocks.

        Raises:
            NoAccessibility: If AT-SPI is not available.
        """
        # Chromium builds its accessibility tree only on request, as that slows every page down.
        first = not self._mark.exists()
        self._mark.touch(0o644)
        found, complete = widgets(self._environment(), self._connect)
        tree = compact(found, self._size)
        self._rectangles = tree.rectangles
        answer: Json = {
            "space": {"name": "native", **self._size._asdict()},
            "complete": complete,
            "applications": list(tree.roots),
        }
        if first:
            answer["note"] = "A browser that runs already tells of its pages when it starts again."
        return answer

    def pointed(self, body: Json) -> Json:
        """Replace the refs of a body by points; raises :class:`InvalidAction`."""
        return pointed(body, self._rectangles, self._size)


def router(shown: AccessibilityService, access: AccessControl) -> APIRouter:
    """Return the route; ``access`` decides if the screen may be viewed."""
    routes = APIRouter(prefix=PREFIX, tags=["desktop"])
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

    return routes
