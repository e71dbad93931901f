"""Files that a chat has touched, which determine the repositories that it works in."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from deskhand.desktop.tool_calls.caller import CallingChat

MOST_PATHS = 1_000
"""Limit of paths for each chat; the least recently touched is dropped first."""
MOST_CHATS = 1_000


class PathStore:
    """Paths by chat, in memory. A path counts for the chat and for all chats above it.

    Belongs to one event loop.
    """

    def __init__(self) -> None:
        self._paths: dict[str, dict[str, None]] = {}
        self._subscribers: dict[str, set[asyncio.Event]] = {}

    def note(self, chat: CallingChat, paths: Sequence[str]) -> None:
        """Record absolute paths and notify subscribers; without paths only notify."""
        for name in dict.fromkeys((chat.id, *chat.ancestors)):
            if paths:
                self._remember(name, paths)
            for event in self._subscribers.get(name, ()):
                event.set()

    def paths(self, chat_id: str) -> list[str]:
        """Return the paths that the chat has touched, sorted."""
        return sorted(self._paths.get(chat_id, ()))

    @property
    def chats(self) -> frozenset[str]:
        """Chats that have touched a path or have a subscriber."""
        return frozenset((*self._paths, *self._subscribers))

    @contextmanager
    def subscribed(self, chat_id: str) -> Iterator[asyncio.Event]:
        """Yield an event that each ``note`` for the chat sets. Subscribe first, then read."""
        event = asyncio.Event()
        self._subscribers.setdefault(chat_id, set()).add(event)
        try:
            yield event
        finally:
            self._subscribers[chat_id].discard(event)
            if not self._subscribers[chat_id]:
                del self._subscribers[chat_id]

    def _remember(self, name: str, paths: Sequence[str]) -> None:
        # Chats and paths are popped and added again, so that both limits drop what was touched
        # longest ago.
        known = self._paths.pop(name, {})
        self._paths[name] = known
        for path in paths:
            if path.startswith("/"):
                known.pop(path, None)
                known[path] = None
        while len(known) > MOST_PATHS:
            del known[next(iter(known))]
        if not known:
            del self._paths[name]
        while len(self._paths) > MOST_CHATS:
            del self._paths[next(iter(self._paths))]
