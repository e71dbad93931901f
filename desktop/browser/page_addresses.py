"""URLs of the pages of the desktop's browser, as they change, over its debugging pipe."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from .pipe_messages import Message

Json = dict[str, Any]

_DISCOVER = "Target.setDiscoverTargets"
_LIST = "Target.getTargets"
_CREATED = ("Target.targetCreated", "Target.targetInfoChanged")
_DESTROYED = "Target.targetDestroyed"


class TargetList:
    """The pages that a browser has reported. Pure."""

    def __init__(self) -> None:
        self._urls: dict[str, str] = {}

    @property
    def urls(self) -> tuple[str, ...]:
        """URLs of the pages that are open, the oldest first."""
        return tuple(self._urls.values())

    def received(self, message: Message) -> bool:
        """Take a message of the browser; return True if a page has changed."""
        if "id" in message:
            # All targets are recorded, also those behind the first change.
            new = [self._is_new(info) for info in _listed(message.get("result"))]
            return True in new
        parameters = message.get("params")
        method, given = message.get("method"), parameters if isinstance(parameters, dict) else {}
        if method == _DESTROYED:
            return self._urls.pop(str(given.get("targetId")), None) is not None
        return method in _CREATED and self._is_new(given.get("targetInfo"))

    def _is_new(self, info: object) -> bool:
        if not isinstance(info, dict) or info.get("type") != "page":
            return False
        target, url = str(info.get("targetId")), str(info.get("url"))
        changed = self._urls.get(target) != url
        self._urls[target] = url
        return changed


def _listed(result: object) -> list[object]:
    listed = result.get("targetInfos") if isinstance(result, dict) else None
    return listed if isinstance(listed, list) else []


class PagePipe(Protocol):
    """A debugging pipe that clients may join."""

    def connect(self) -> Any:
        """Return a new client."""


class PageAddresses:
    """Follows the pages of the browser that runs now; `close` leaves its pipe."""

    def __init__(
        self,
        pipe: Callable[[], PagePipe | None],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        notify: Callable[[], None],
    ) -> None:
        """``spawn`` starts a task whose owner awaits it; ``notify`` is called at each change."""
        self._pipe = pipe
        self._spawn = spawn
        self._notify = notify
        self._joined: PagePipe | None = None
        self._client: Any = None
        self._targets = TargetList()

    def urls(self) -> tuple[str, ...]:
        """Return the URLs that are known now; joins the pipe of a browser that has started."""
        pipe = self._pipe()
        if pipe is not self._joined:
            self.close()
            self._joined, self._targets = pipe, TargetList()
            if pipe is not None:
                self._client = pipe.connect()
                self._client.send({"id": 1, "method": _DISCOVER, "params": {"discover": True}})
                # The browser reports existing pages to the first client that discovers targets.
                self._client.send({"id": 2, "method": _LIST})
                self._spawn(self._follow(self._client, self._targets))
        return self._targets.urls

    def close(self) -> None:
        """Leave the pipe, which ends the task; twice is fine."""
        if self._client is not None:
            self._client.close()
            self._client = None

    async def _follow(self, client: Any, targets: TargetList) -> None:
        async for message in client.messages():
            if targets.received(message):
                self._notify()
