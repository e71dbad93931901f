"""Route of what has the keyboard: the window, and the field in it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from fastapi import APIRouter

from deskhand.desktop.http_errors import answered
from deskhand.desktop.lease.access import AccessControl
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .focused_field import FocusedField

Json = dict[str, Any]


class ShownWindow(Protocol):
    """A window on the screen."""

    @property
    def title(self) -> str:
        """Title for people."""

    @property
    def name(self) -> str:
        """Class of its application."""

    @property
    def focused(self) -> bool:
        """True if it has the keyboard."""

    @property
    def dialog(self) -> bool:
        """True if it belongs to another window."""


class ShownWindows(Protocol):
    """The windows on the screen. Blocking."""

    def all(self) -> Sequence[ShownWindow]:
        """Return all windows."""


def router(
    windows: Callable[[], ShownWindows],
    field: Callable[[], FocusedField | None],
    access: AccessControl,
) -> APIRouter:
    """Return the route; both functions may wait for a display and are called in a thread."""
    routes = LazyRouter(prefix="/api/v0/desktop", tags=["desktop"])

    def read() -> Json:
        shown = next((one for one in windows().all() if one.focused), None)
        found = field()
        return {
            "window": None
            if shown is None
            else {"title": shown.title, "class": shown.name, "dialog": shown.dialog},
            "field": None if found is None else found.to_json(),
        }

    @routes.get("/focus")
    async def focus() -> Json:
        """The window and the field with the keyboard; null where no application reports one."""
        with answered():
            access.check_view()
            found = await asyncio.to_thread(read)
            # A person may have taken control in privacy mode during the read.
            access.check_view()
            return found

    return routes
