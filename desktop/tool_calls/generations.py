"""Fencing of the control planes that drive a chat. Pure.

Of several control planes one drives a chat at a time, and each that takes it over does so under a
higher generation. One that was stopped and continues does not know that it was replaced, and its
database cannot hold back a request that is on its way. So the desktop keeps the highest generation
of each chat that it has seen, and refuses requests under a lower one.

Requests without a generation, as of people and of a control plane that is alone, are not fenced.
"""

from collections.abc import Mapping

from deskhand.vncbridge.http import caller_headers

from .errors import CallRefused, MalformedCall

MOST_CHATS = 1_000
LONGEST_NUMBER = 18
"""Digits; such numbers are below 2**63, and fit in 8 bytes."""


def generation_of(headers: Mapping[str, str]) -> int:
    """Return the generation of a request; 0 without one.

    Raises:
        MalformedCall: If it is not a whole number.
    """
    text = caller_headers.text(headers, caller_headers.GENERATION).strip()
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()) or len(text) > LONGEST_NUMBER:
        raise MalformedCall("The generation must be a whole number, not negative.")
    return int(text)


class Generations:
    """The highest generation of each chat, from the journals of earlier services on."""

    def __init__(self, *earlier: Mapping[str, int]) -> None:
        self._highest: dict[str, int] = {}
        for found in earlier:
            for chat, generation in found.items():
                self._highest[chat] = max(self._highest.get(chat, 0), generation)

    def admit(self, chat: str, generation: int) -> None:
        """Record the generation of a request.

        Raises:
            CallRefused: If the chat is driven under a higher one.
        """
        if generation == 0:
            return
        # Popped and added again, a chat moves to the end: the first one is the least recently used.
        highest = self._highest.pop(chat, 0)
        self._highest[chat] = max(highest, generation)
        if len(self._highest) > MOST_CHATS:
            del self._highest[next(iter(self._highest))]
        if generation < highest:
            raise CallRefused(
                "stale_driver",
                "Another control plane drives the chat.",
                f"The request has the generation {generation}, and the chat is at {highest}.",
            )
