"""Makes routes and live views wait for a display that is starting."""

import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from fastapi import HTTPException, Request

from deskhand.desktop.errors import DisplayGone, DisplayNotReady

_WITHOUT_DISPLAY = ("/api/v0/desktop", "/api/v0/desktop/")
"""Status route, which answers without a display and states the reason."""


class DisplayReadiness(Protocol):
    """A display that may be starting."""

    async def wait_ready(self) -> None:
        """Wait until the display can be used.

        Raises:
            DisplayNotReady, DisplayGone: If that takes too long.
        """

    @property
    def next_start_s(self) -> float | None:
        """Seconds until the next attempt to start; None while it starts or runs."""


ConnectionT_co = TypeVar("ConnectionT_co", covariant=True)


class RfbUpstream(Protocol[ConnectionT_co]):
    """Opens connections to the RFB server."""

    async def open(self) -> ConnectionT_co:
        """Open a fresh connection."""


def display_ready(display: DisplayReadiness) -> Callable[[Request], Awaitable[None]]:
    """Return a FastAPI dependency that waits for the display, or answers with 503."""

    async def wait(request: Request) -> None:
        if request.url.path in _WITHOUT_DISPLAY:
            return
        try:
            await display.wait_ready()
        except (DisplayNotReady, DisplayGone) as error:
            body = {"message": "The display is not available.", "detail": str(error)}
            # Retry-After takes whole seconds (RFC 9110, section 10.2.3); 0 would invite a busy
            # loop.
            after = max(1, math.ceil(display.next_start_s or 0.0))
            raise HTTPException(503, body, {"Retry-After": str(after)}) from error

    return wait


class WaitingUpstream(Generic[ConnectionT_co]):
    """RFB server that may be starting: connecting waits for it."""

    def __init__(self, upstream: RfbUpstream[ConnectionT_co], display: DisplayReadiness) -> None:
        self._upstream = upstream
        self._display = display

    async def open(self) -> ConnectionT_co:
        """Open a fresh connection, to the next server if none runs now."""
        # The attempt to connect then fails with the error of any unreachable RFB server.
        with suppress(DisplayNotReady, DisplayGone):
            await self._display.wait_ready()
        return await self._upstream.open()
