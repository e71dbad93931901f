"""The session in which one client of CDP works as if it were the browser's only one. Pure.

All clients share the debugging pipe. Each gets a session of its own, of the browser or of one page,
in which it attaches further ones. Its messages without a session belong to that session.
"""

from typing import Any

Json = dict[str, Any]

_DETACHED = "Target.detachedFromTarget"


class RootSession:
    """Translates messages of one client; ``session`` is the id of its session on the pipe."""

    def __init__(self, session: str) -> None:
        self._session = session

    def to_browser(self, message: Json) -> Json:
        """Return a client's request as it goes to the pipe."""
        return message if "sessionId" in message else {**message, "sessionId": self._session}

    def to_client(self, message: Json) -> Json | None:
        """Return an answer or event as it goes to the client; None if it is not the client's."""
        session = message.get("sessionId")
        if session is None:
            return None
        if session != self._session:
            return message
        return {name: value for name, value in message.items() if name != "sessionId"}

    def ends(self, message: Json) -> bool:
        """Return whether an event reports the end of the session, as of a closed page."""
        parameters = message.get("params")
        if message.get("method") != _DETACHED or not isinstance(parameters, dict):
            return False
        return bool(parameters.get("sessionId") == self._session)
