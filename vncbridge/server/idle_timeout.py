"""The time since a service's last request, and its shutdown after a time without one."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.types import ASGIApp, Receive, Scope, Send


class IdleTimeout:
    """ASGI middleware that records the end of the last request.

    ``now`` returns seconds of a monotonic clock.
    """

    def __init__(self, app: ASGIApp, now: Callable[[], float]) -> None:
        self._app = app
        self._now = now
        self._open = 0
        self._last = now()

    @property
    def seconds(self) -> float:
        """Seconds since the last request ended; 0 while one is open."""
        return 0.0 if self._open else self._now() - self._last

    async def reached(self, seconds: float) -> None:
        """Wait until there was no request for ``seconds``."""
        # Every request postpones the end, so an event for each of them would cost more than this.
        while (left := seconds - self.seconds) > 0:  # noqa: ASYNC110
            await asyncio.sleep(left)

    @asynccontextmanager
    async def ending(self, after: float | None, end: Callable[[], object]) -> AsyncIterator[None]:
        """Call ``end`` once there was no request for ``after`` seconds; never if that is None."""
        if after is None:
            yield
            return
        watch = asyncio.create_task(self._end(after, end), name="linger")
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    async def _end(self, after: float, end: Callable[[], object]) -> None:
        await self.reached(after)
        end()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and record its end."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        self._open += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= 1
            self._last = self._now()
