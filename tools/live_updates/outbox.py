"""Messages that wait for one page: all events, and of each screen the newest picture. Pure."""

from collections import deque


class Outbox:
    """Keeps the order of events. A page that reads slowly loses pictures, and never an event."""

    def __init__(self, most: int = 2000) -> None:
        self._most = most
        self._events: deque[str] = deque()
        self._pictures: dict[str, bytes] = {}

    @property
    def full(self) -> bool:
        """True if a page reads so slowly that it has to begin again."""
        return len(self._events) > self._most

    def add(self, message: str) -> None:
        """Add an event."""
        self._events.append(message)

    def show(self, topic: str, message: bytes) -> None:
        """Replace the picture of a topic that was not sent yet."""
        self._pictures.pop(topic, None)
        self._pictures[topic] = message

    def forget(self, topic: str) -> None:
        """Drop the picture of a topic."""
        self._pictures.pop(topic, None)

    def take(self) -> str | bytes | None:
        """Return the next message, None if none waits: events first, then the oldest picture."""
        if self._events:
            return self._events.popleft()
        if not self._pictures:
            return None
        topic = next(iter(self._pictures))
        return self._pictures.pop(topic)
