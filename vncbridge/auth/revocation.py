"""Ends WebSockets and event streams with the credential of their request.

A request is entered under every name that its credential was derived from (a token, a session).
When one of them ends, or the credential expires, each entered request that is a stream (an
accepted WebSocket, or a response of the type ``text/event-stream``) is cancelled and closed.
Other requests complete: they are short.
"""

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
    """The requests of credentials that may end before the requests do.

    ``now`` returns unix time.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._open: defaultdict[str, set[_CredentialLifetime]] = defaultdict(set)

    def end(self, name: str) -> None:
        """End the streams whose credential was derived from ``name``. Called on the event loop."""
        for lifetime in tuple(self._open.get(name, ())):
            lifetime.end()

    async def serve(
        self, principal: Principal, app: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Run the application; end it if it serves a stream and the credential ends."""
        # A credential of the service's configuration ends with the process, so nothing has to be
        # watched.
        if not principal.via and principal.ends is None:
            await app(scope, receive, send)
            return
        lifetime = _CredentialLifetime()

        async def watched(message: Message) -> None:
            # The head is sent before the cancellation, so that the stream can be ended as one.
            await send(message)
            if _begins_stream(message):
                lifetime.stream()

        with self._held(lifetime, principal):
            try:
                await app(scope, receive, watched)
            except asyncio.CancelledError:
                # A cancellation with another cause, such as the shutdown, must propagate.
                if not lifetime.acknowledge_cancellation():
                    raise
                await _send_end(scope, send)

    @contextmanager
    def _held(self, lifetime: "_CredentialLifetime", principal: Principal) -> Iterator[None]:
        with ExitStack() as stack:
            for name in principal.via:
                self._open[name].add(lifetime)
                stack.callback(self._forget, name, lifetime)
            if principal.ends is not None:
                left = max(0.0, principal.ends - self._now())
                timer = asyncio.get_running_loop().call_later(left, lifetime.end)
                stack.callback(timer.cancel)
            yield

    def _forget(self, name: str, lifetime: "_CredentialLifetime") -> None:
        self._open[name].discard(lifetime)
        if not self._open[name]:
            del self._open[name]


class _CredentialLifetime:
    """One request, whose task is cancelled when it streams and its credential has ended."""

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._streams = False
        self._ended = False
        self._cancelled = False

    def stream(self) -> None:
        """Record that the request is a stream; its credential may have ended already."""
        self._streams = True
        self._cancel_stream()

    def end(self) -> None:
        """Record that the credential has ended."""
        self._ended = True
        self._cancel_stream()

    def acknowledge_cancellation(self) -> bool:
        """Return whether `_cancel_stream` cancelled the task, and allow it to continue."""
        if self._cancelled and self._task is not None:
            # Without ``uncancel``, ``asyncio.timeout`` in this task would take the cancellation for
            # one from outside.
            self._task.uncancel()
        return self._cancelled

    def _cancel_stream(self) -> None:
        # The credential may end before the response begins, or after it.
        if self._ended and self._streams and not self._cancelled and self._task is not None:
            self._cancelled = True
            self._task.cancel()


def _begins_stream(message: Message) -> bool:
    if message["type"] == "websocket.accept":
        return True
    return message["type"] == "http.response.start" and (
        Headers(raw=message["headers"]).get("content-type", "").startswith("text/event-stream")
    )


async def _send_end(scope: Scope, send: Send) -> None:
    if scope["type"] != "websocket":
        await send({"type": "http.response.body", "body": b""})
        return
    drop = (scope.get("extensions") or {}).get(EXTENSION, {}).get("drop")
    if drop is None:
        await send({"type": "websocket.close", "code": REFUSED, "reason": REASON})
    else:
        # drop() does not wait for a client that has stopped reading.
        drop(REFUSED, REASON)
