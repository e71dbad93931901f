"""Parts of the newest request of a turn, which an adapter keeps and adds to. Pure.

A request repeats all messages of the request before it. To convert them again, and to read and
encode their pictures, would cost more with every step. The loop therefore gives all prompts of a
turn one :class:`SentParts`. In it the adapter keeps the form in which it has sent each message.

A message is recognised by its identity, not by its value: the loop passes the same objects as long
as the history only grows. After a change of the history everything from the first other object on
is forgotten. A prompt without an earlier one has an empty store, and gives the same bytes.
"""

from collections.abc import Sequence
from typing import Any

from deskhand.tools.conversation.conversation import Message


class SentParts:
    """The messages of one turn's newest request, each with what an adapter has made of it."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._parts: list[Any] = []

    def known(self, messages: Sequence[Message]) -> list[Any]:
        """Return the parts of the messages that begin as the newest request did; forget the rest.

        ``add`` has to be called for each of the other messages, in order.
        """
        same = unchanged(self._messages, messages)
        del self._messages[same:], self._parts[same:]
        return list(self._parts)

    def add(self, message: Message, part: Any) -> None:
        """Keep the part of the next message."""
        self._messages.append(message)
        self._parts.append(part)

    def clear(self) -> None:
        """Forget everything, at the end of the turn."""
        self._messages.clear()
        self._parts.clear()


def unchanged(before: Sequence[Message], after: Sequence[Message]) -> int:
    """Return how many messages at the beginning are the very same objects."""
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        if old is not new:
            return index
    return min(len(before), len(after))
