"""Which files a chat has touched, so that it is known which repositories it works in."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from deskhand.desktop.tool_calls.caller import CallingChat

MOST_PATHS = 1_000
"""Kept for each chat; the first to go is the one that was touched longest ago."""
MOST_CHATS = 1_000


class PathStore:
    """Paths by chat, in memory. A path counts for the chat and for all chats above it.

    Belongs to one event loop.
    """

    def __init__(self) -> None:
        self._paths: dict[str, dict[str, None]] = {}
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def note(self, chat: CallingChat, paths: Sequence[str]) -> None:
        """Remember absolute paths; none at all only says that something may have changed."""
        for name in dict.fromkeys((chat.id, *chat.ancestors)):
            if paths:
                self._remember(name, paths)
            for event in self._waiting.get(name, ()):
                event.set()

    def paths(self, chat_id: str) -> list[str]:
        """Return what the chat has touched, sorted."""
        return sorted(self._paths.get(chat_id, ()))

    @property
    def chats(self) -> frozenset[str]:
        """The chats that have touched anything, or are watched."""
        return frozenset((*self._paths, *self._waiting))

    @contextmanager
    def subscribed(self, chat_id: str) -> Iterator[asyncio.Event]:
        """Yield an event that each note for the chat sets. Subscribe first, then read."""
        event = asyncio.Event()
        self._waiting.setdefault(chat_id, set()).add(event)
        try:
            yield event
        finally:
            self._waiting[chat_id].discard(event)
            if not self._waiting[chat_id]:
                del self._waiting[chat_id]

    def _remember(self, name: str, paths: Sequence[str]) -> None:
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
