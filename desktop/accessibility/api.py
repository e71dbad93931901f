"""The route that tells which widgets applications show, and the refs by which to click them."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from deskhand.desktop.geometry import Region, Size
from deskhand.desktop.http_errors import answered
from deskhand.desktop.lease.access import AccessControl

from .reader import widgets
from .tree import compact, pointed

Json = dict[str, Any]

PREFIX = "/api/v0/desktop"
MARK = "accessibility"
"""Of this name in the desktop's ``run``: browsers that start from then on tell of their pages."""


class AccessibilityService:
    """The newest tree that was asked for, and the places of its refs."""

    def __init__(self, environment: Callable[[], Mapping[str, str]], size: Size, run: Path) -> None:
        self._environment = environment
        self._size = size
        self._mark = run / MARK
        self._places: Mapping[str, Region] = {}

    def read(self) -> Json:
        """Ask all applications. Blocks.

        Raises:
            NoAccessibility: If they cannot be asked.
        """
        first = not self._mark.exists()
        self._mark.touch(0o600)
        found, complete = widgets(self._environment())
        tree = compact(found, self._size)
        self._places = tree.places
        answer: Json = {
            "space": {"name": "native", **self._size._asdict()},
            "complete": complete,
            "applications": list(tree.roots),
        }
        if first:
            answer["note"] = "A browser that runs already tells of its pages when it starts again."
        return answer

    def pointed(self, body: Json) -> Json:
        """Put points in the place of a body's refs; raises :class:`InvalidAction`."""
        return pointed(body, self._places, self._size)


def router(shown: AccessibilityService, access: AccessControl) -> APIRouter:
    """Return the route; ``access`` says whether the screen may be seen."""
    routes = APIRouter(prefix=PREFIX, tags=["desktop"])
    turns = asyncio.Lock()

    @routes.get("/accessibility", responses={501: {"description": "There is no such tree here."}})
    async def accessibility() -> Json:
        """Roles, names and native rectangles of what applications show.

        An action takes a `ref` of the newest tree instead of a `coordinate`.
        """
        with answered():
            async with turns:
                access.check_view()
                told = await asyncio.to_thread(shown.read)
                # A person may have taken the screen in private meanwhile.
                access.check_view()
                return told

    return routes
