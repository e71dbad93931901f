"""Screenshots that a client waits for, because the browser may never answer. Pure.

Chromium drops `Page.captureScreenshot` without an answer while it replaces the renderer of the
page, as it does with its first page. Clients of CDP have no limit of their own for an answer.
"""

from typing import Any

Json = dict[str, Any]

MOST_FAILED = 1_000
"""Requests that failed, of which a late answer is not passed on."""
WATCHED = "Page.captureScreenshot"
NO_ANSWER = "The browser took no screenshot in time: the page was replaced or is busy. Try again."
ENDED = "The page has ended before its screenshot was taken."


class UnansweredScreenshots:
    """The open requests of one client, each with the time at which it fails."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due: dict[tuple[str, int], float] = {}
        self._failed: dict[tuple[str, int], None] = {}

    def asked(self, request: Json, now: float) -> bool:
        """Note a request of the client; return whether it is one that is watched."""
        number = request.get("id")
        if request.get("method") != WATCHED or type(number) is not int:
            return False
        key = str(request.get("sessionId") or ""), number
        self._failed.pop(key, None)
        self._due[key] = now + self._seconds
        return True

    def passes(self, message: Json) -> bool:
        """Note a message for the client; return whether it is no answer that comes too late."""
        number = message.get("id")
        if type(number) is not int:
            return True
        key = str(message.get("sessionId") or ""), number
        self._due.pop(key, None)
        return self._failed.pop(key, key) is not None

    @property
    def due(self) -> float | None:
        """Time at which the next request fails; None if none is open."""
        return min(self._due.values(), default=None)

    def late(self, now: float) -> list[Json]:
        """Return the requests that fail now, as far as an answer repeats them."""
        return self._fail([key for key, due in self._due.items() if due <= now])

    def ended(self, message: Json) -> list[Json]:
        """Return the requests that fail because an event reports the end of their session."""
        parameters = message.get("params")
        if message.get("method") != "Target.detachedFromTarget" or type(parameters) is not dict:
            return []
        session = parameters.get("sessionId")
        return self._fail([key for key in self._due if key[0] and key[0] == session])

    def _fail(self, keys: list[tuple[str, int]]) -> list[Json]:
        for key in keys:
            del self._due[key]
        self._failed = dict.fromkeys([*self._failed, *keys][-MOST_FAILED:])
        named = (({"sessionId": session} if session else {}, number) for session, number in keys)
        return [{"id": number, **session} for session, number in named]
