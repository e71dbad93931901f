"""ASGI middleware that answers 503 in place of a call that an X server blocks.

A stopped X server blocks its callers until the health check ends it, 8 to 10 seconds later. A call
that takes longer than a second has the server probed; if neither X nor RFB answers for two more,
its client gets 503 with Retry-After. The work for the call is cancelled and ends in the background:
releasing what an action pressed may itself wait for the server. Its tool call has an unknown
outcome then.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_PREFIX = "/api/v0/desktop/"
GUARDED = (
    *("screenshot", "action", "actions", "windows", "clipboard"),
    *("accessibility", "applications", "launch", "open"),
)
"""First segments of the routes whose calls need the display, or applications that wait for it."""
GUARDED_PATHS = ("recording/start",)
"""Further such routes. The end of a recording waits: what is recorded would seem lost."""
_RETRY_AFTER = b"1"


@dataclass(frozen=True)
class HangTimeouts:
    """Times in seconds; a call is answered after their sum."""

    unprobed: float = 1.0
    """Time that a call may take before the server is probed."""
    reply: float = 2.0
    """Time for the reply to a probe."""


class ProbedServer(Protocol):
    """An X server. Both methods block."""

    def x_responds(self, timeout: float) -> bool:
        """Return True if X answers a new client in time."""

    def rfb_responds(self, timeout: float) -> bool:
        """Return True if RFB answers in time, as it does while an application grabs the server.

        A server without RFB responds unless its process is stopped.
        """


class HangGuard:
    """Answers calls in place of the application while the X server answers no client."""

    def __init__(
        self,
        app: App,
        server: Callable[[], ProbedServer | None],
        timeouts: HangTimeouts | None = None,
    ) -> None:
        """``server`` returns the newest X server, ``None`` before there is one."""
        self._app = app
        self._server = server
        self._timeouts = timeouts or HangTimeouts()
        # The threads of other executors may all be blocked by the server.
        self._threads = ThreadPoolExecutor(2, "hang")
        self._probe: asyncio.Task[bool] | None = None
        self._abandoned: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Wait for the work of the calls that were answered here."""
        await asyncio.gather(*self._abandoned, return_exceptions=True)
        self._threads.shutdown(wait=False)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass one request on, or answer it."""
        if scope["type"] != "http" or not _guarded(scope["path"]):
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        work = asyncio.create_task(_run(self._app, scope, receive, answer.send))
        hang: asyncio.Task[None] | None = None
        try:
            await asyncio.wait({work}, timeout=self._timeouts.unprobed)
            if not work.done():
                hang = asyncio.create_task(self._hang())
                await asyncio.wait({work, hang}, return_when=asyncio.FIRST_COMPLETED)
            if work.done() or not await answer.take_over():
                await work
                return
            self._abandoned.add(work)
            work.add_done_callback(self._forget)
        finally:
            tasks = {work} if hang is None else {hang, work}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*(tasks - self._abandoned), return_exceptions=True)

    def _forget(self, work: asyncio.Task[None]) -> None:
        self._abandoned.discard(work)
        if not work.cancelled():
            # Its error has no receiver any more; asyncio would log one that is not retrieved.
            work.exception()

    async def _hang(self) -> None:
        """Return when the server answers no client."""
        while True:
            # Calls that are blocked together share one probe.
            if self._probe is None or self._probe.done():
                self._probe = asyncio.create_task(self._responds())
            if not await asyncio.shield(self._probe):
                return
            await asyncio.sleep(self._timeouts.unprobed)

    async def _responds(self) -> bool:
        server, loop, timeout = self._server(), asyncio.get_running_loop(), self._timeouts.reply
        if server is None:
            return True
        return any(
            await asyncio.gather(
                loop.run_in_executor(self._threads, server.x_responds, timeout),
                loop.run_in_executor(self._threads, server.rfb_responds, timeout),
            )
        )


class _Answer:
    """The response to one request, which has one sender only."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False
        self._taken = False

    async def send(self, message: Message) -> None:
        if not self._taken:
            self._begun = True
            await self._send(message)

    async def take_over(self) -> bool:
        """Send the refusal unless the application has begun to answer; return True if sent."""
        if self._begun:
            return False
        self._taken = True
        detail = "The X server does not answer; it is replaced if it stays so."
        body = json.dumps({"message": "The display is not available.", "detail": detail}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"retry-after", _RETRY_AFTER),
        ]
        await self._send({"type": "http.response.start", "status": 503, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})
        return True


async def _run(app: App, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
    await app(scope, receive, send)


def _guarded(path: str) -> bool:
    if not path.startswith(_PREFIX):
        return False
    route = path.removeprefix(_PREFIX)
    return route in GUARDED_PATHS or route.split("/")[0] in GUARDED
