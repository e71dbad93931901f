"""Whether the first page of a browser shows a document. Pure.

A browser that starts replaces the empty document of its first page by that of the new tab.
Requests that its page has not answered by then are never answered (Chromium 130 to 156), so that a
client which connects at that moment waits forever. Clients are served after it.
"""

from collections.abc import Iterable

from .pipe_messages import Message

_DISCOVER, _ATTACH, _ENABLE, _TREE = 1, 2, 3, 4


class FirstPage:
    """The requests by which the first page is watched, and what follows from their answers."""

    def __init__(self) -> None:
        self.shown = False
        """True once the page shows a document."""
        self._attaching = False
        self._session = ""

    def begin(self) -> Message:
        """Return the first request."""
        return {
            "id": _DISCOVER,
            "method": "Target.setDiscoverTargets",
            "params": {"discover": True},
        }

    def received(self, message: Message) -> Iterable[Message]:
        """Return the requests that follow from an answer or an event."""
        result, parameters = _object(message, "result"), _object(message, "params")
        if message.get("method") == "Target.targetCreated":
            return self._created(_object(parameters, "targetInfo"))
        if message.get("id") == _ATTACH:
            return self._attached(str(result.get("sessionId", "")))
        if message.get("sessionId", "") != self._session:
            return ()
        if message.get("id") == _TREE:
            self.shown |= bool(_object(_object(result, "frameTree"), "frame").get("url"))
        if message.get("method") == "Page.frameNavigated":
            self.shown |= "parentId" not in _object(parameters, "frame")
        return ()

    def _created(self, target: Message) -> Iterable[Message]:
        if target.get("type") != "page" or self._attaching:
            return ()
        self._attaching = True
        wanted = {"targetId": target.get("targetId"), "flatten": True}
        return ({"id": _ATTACH, "method": "Target.attachToTarget", "params": wanted},)

    def _attached(self, session: str) -> Iterable[Message]:
        if not session:
            # The page has closed meanwhile: the next one is watched.
            self._attaching = False
            return ()
        self._session = session
        return (
            {"id": _ENABLE, "method": "Page.enable", "sessionId": session},
            {"id": _TREE, "method": "Page.getFrameTree", "sessionId": session},
        )


def _object(message: Message, name: str) -> Message:
    value = message.get(name)
    return value if isinstance(value, dict) else {}
