"""What goes on with a credential ends with it: WebSockets and streams of events."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deskhand.vncbridge.server.websocket_protocol import EXTENSION

from .policy import Principal

REFUSED = 1008
"""WebSocket close code for a policy violation, RFC 6455 section 7.4.1."""
REASON = "Your credential has ended."


class CredentialLifetimes:
    """The requests that go on with credentials which may end before them.

    ``now`` gives unix time.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._open: defaultdict[str, set[_CredentialLifetime]] = defaultdict(set)

    def end(self, name: str) -> None:
        """End the streams of those who stand on what has that name. Called on the event loop."""
        for tenure in tuple(self._open.get(name, ())):
            tenure.end()

    async def serve(
        self, principal: Principal, app: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer as the application does, for as long as the credential is good for a stream."""
        if not principal.via and principal.ends is None:
            await app(scope, receive, send)
            return
        tenure = _CredentialLifetime()

        async def watched(message: Message) -> None:
            await send(message)
            if _begins_stream(message):
                tenure.stream()

        with self._held(tenure, principal):
            try:
                await app(scope, receive, watched)
            except asyncio.CancelledError:
                if not tenure.left():
                    raise
                await _say_goodbye(scope, send)

    @contextmanager
    def _held(self, tenure: "_CredentialLifetime", principal: Principal) -> Iterator[None]:
        with ExitStack() as stack:
            for name in principal.via:
                self._open[name].add(tenure)
                stack.callback(self._forget, name, tenure)
            if principal.ends is not None:
                left = max(0.0, principal.ends - self._now())
                timer = asyncio.get_running_loop().call_later(left, tenure.end)
                stack.callback(timer.cancel)
            yield

    def _forget(self, name: str, tenure: "_CredentialLifetime") -> None:
        self._open[name].discard(tenure)
        if not self._open[name]:
            del self._open[name]


class _CredentialLifetime:
    """One request; only what streams is broken off."""

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._streams = False
        self._over = False
        self._cancelled = False

    def stream(self) -> None:
        """Note that it goes on for long; the credential may have ended meanwhile."""
        self._streams = True
        self._break_off()

    def end(self) -> None:
        """Note that the credential has ended."""
        self._over = True
        self._break_off()

    def left(self) -> bool:
        """Return whether the task was cancelled by us, and let it go on."""
        if self._cancelled and self._task is not None:
            self._task.uncancel()
        return self._cancelled

    def _break_off(self) -> None:
        if self._over and self._streams and not self._cancelled and self._task is not None:
            self._cancelled = True
            self._task.cancel()


def _begins_stream(message: Message) -> bool:
    if message["type"] == "websocket.accept":
        return True
    return message["type"] == "http.response.start" and (
        Headers(raw=message["headers"]).get("content-type", "").startswith("text/event-stream")
    )


async def _say_goodbye(scope: Scope, send: Send) -> None:
    if scope["type"] != "websocket":
        await send({"type": "http.response.body", "body": b""})
        return
    drop = (scope.get("extensions") or {}).get(EXTENSION, {}).get("drop")
    if drop is None:
        await send({"type": "websocket.close", "code": REFUSED, "reason": REASON})
    else:
        # Without waiting for a client that may read nothing any more.
        drop(REFUSED, REASON)
