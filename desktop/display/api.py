"""Start of the display; makes routes and live views wait for a display that is starting."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated, Generic, Protocol, TypeVar

from fastapi import APIRouter, HTTPException, Query, Request

from deskhand.desktop.errors import DesktopError, DisplayGone, DisplayNotReady
from deskhand.vncbridge.http.lazy_routes import LazyRouter

_WITHOUT_DISPLAY = ("/api/v0/desktop", "/api/v0/desktop/")
"""Status route, which answers without a display and states the reason."""

START_SECONDS = 50.0
LONGEST_WAIT_SECONDS = 60.0


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


class DeferredDisplay(DisplayReadiness, Protocol):
    """A display that may start later than its service."""

    @property
    def state(self) -> str:
        """``absent``, ``wanted``, ``starting`` or ``running``."""

    def start(self) -> None:
        """Start it; a second call does nothing."""

    async def wait_wanted(self, timeout: float) -> None:
        """Wait for its first use, at most so long."""

    async def wait_ready(self, timeout: float = START_SECONDS) -> None:
        """Wait until it can be used; raises DisplayNotReady, DisplayGone."""


ConnectionT_co = TypeVar("ConnectionT_co", covariant=True)


class RfbUpstream(Protocol[ConnectionT_co]):
    """Opens connections to the RFB server."""

    async def open(self) -> ConnectionT_co:
        """Open a fresh connection."""


def router(
    display: DeferredDisplay,
    may_start: Callable[[Request], bool],
    started: Callable[[], object],
    closing: asyncio.Event,
) -> APIRouter:
    """Return the routes by which the program that limits the displays starts this one.

    ``may_start`` returns whether the caller of a request may do so; ``started`` is called when the
    display runs. Waits end when ``closing`` is set.
    """
    routes = LazyRouter(prefix="/api/v0/desktop/display", tags=["desktop"])

    @routes.get("")
    async def state(
        wanted_within_s: Annotated[float, Query(ge=0.0, le=LONGEST_WAIT_SECONDS)] = 0.0,
    ) -> dict[str, str]:
        """Show whether the display is absent, wanted, starting or running.

        With `wanted_within_s` the answer waits for the first use of an absent display, at most so
        long.
        """
        ends = {
            asyncio.create_task(display.wait_wanted(wanted_within_s)),
            asyncio.create_task(closing.wait()),
        }
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        return {"state": display.state}

    @routes.post("")
    async def start(request: Request) -> dict[str, str]:
        """Start the display, and answer when it can be used."""
        if not may_start(request):
            raise HTTPException(403, {"message": "Only an administrator starts displays."})
        display.start()
        try:
            await display.wait_ready(START_SECONDS)
        except (DisplayNotReady, DisplayGone) as error:
            body = {"message": "The display is not available.", "detail": str(error)}
            raise HTTPException(503, body) from error
        started()
        return {"state": display.state}

    return routes


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
    """RFB server that may be starting: connecting waits for it.

    ``await_focus`` blocks until the input of viewers has moved the keyboard focus.
    """

    def __init__(
        self,
        upstream: RfbUpstream[ConnectionT_co],
        display: DisplayReadiness,
        await_focus: Callable[[], None],
    ) -> None:
        self._upstream = upstream
        self._display = display
        self._await_focus = await_focus

    async def open(self) -> ConnectionT_co:
        """Open a fresh connection, to the next server if none runs now."""
        # The attempt to connect then fails with the error of any unreachable RFB server.
        with suppress(DisplayNotReady, DisplayGone):
            await self._display.wait_ready()
        return await self._upstream.open()

    async def await_focus(self) -> None:
        """Wait until the input that was sent so far has moved the keyboard focus."""
        # A display that is lost has no window for the key that waits, either.
        with suppress(DesktopError):
            await asyncio.to_thread(self._await_focus)
