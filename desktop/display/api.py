"""Waits for the display where a call cannot do without one."""

import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from fastapi import HTTPException, Request

from deskhand.desktop.errors import DisplayGone, DisplayNotReady

_WITHOUT_DISPLAY = ("/api/v0/desktop", "/api/v0/desktop/")
"""The status, which tells why there is none."""


class DisplayReadiness(Protocol):
    """A display that may be starting."""

    async def awake(self) -> None:
        """Wait until it can be used.

        Raises:
            DisplayNotReady, DisplayGone: If that takes too long.
        """

    @property
    def next_start_s(self) -> float | None:
        """Seconds until it is started again; None while it starts or runs."""


LineT_co = TypeVar("LineT_co", covariant=True)


class RfbUpstream(Protocol[LineT_co]):
    """Where the RFB server is reached."""

    async def open(self) -> LineT_co:
        """Open a fresh connection."""


def display_ready(display: DisplayReadiness) -> Callable[[Request], Awaitable[None]]:
    """Return a dependency of routes: they are called when there is a display, or a 503 is."""

    async def wait(request: Request) -> None:
        if request.url.path in _WITHOUT_DISPLAY:
            return
        try:
            await display.awake()
        except (DisplayNotReady, DisplayGone) as error:
            body = {"message": "The display is not available.", "detail": str(error)}
            after = max(1, math.ceil(display.next_start_s or 0.0))
            raise HTTPException(503, body, {"Retry-After": str(after)}) from error

    return wait


class WaitingUpstream(Generic[LineT_co]):
    """An RFB server that may be starting."""

    def __init__(self, upstream: RfbUpstream[LineT_co], display: DisplayReadiness) -> None:
        self._upstream = upstream
        self._display = display

    async def open(self) -> LineT_co:
        """Open a fresh connection, to the next server if there is none now."""
        with suppress(DisplayNotReady, DisplayGone):
            await self._display.awake()
        return await self._upstream.open()
