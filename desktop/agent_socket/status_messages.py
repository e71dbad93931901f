"""Status messages of commands: sanitized, shortened, and limited in their rate. Pure.

A message is for people who watch a run. A command that sends more than people can read must not
fill the event stream of its desktop and the database: each chat may send `BURST` messages at once,
and one more each `SECONDS`. What is beyond is dropped and counted.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.context.sanitizing import sanitized

STATUS_EVENT = "agent_status"
LONGEST = 200
"""Characters that are shown."""
BURST = 5
SECONDS = 1.0
MOST_CHATS = 1_000
"""Chats whose rate is remembered."""


@dataclass(frozen=True)
class StatusMessage:
    """A message of a chat."""

    chat_id: str
    text: str
    dropped: int
    """Messages of the chat that were dropped so far."""

    def to_json(self) -> dict[str, Any]:
        """Return the data of the event."""
        return dict(vars(self))


@dataclass
class _Sender:
    allowed: float
    """Messages that may be sent at ``at``."""
    at: float
    dropped: int = 0


class StatusMessages:
    """The status messages of one desktop."""

    def __init__(self) -> None:
        self._senders: OrderedDict[str, _Sender] = OrderedDict()

    def offer(self, chat_id: str, text: str, now: float) -> StatusMessage | None:
        """Return the message to publish at ``now``, in seconds; None for one that is dropped."""
        shown = shortened(text)
        if not chat_id or not shown:
            return None
        sender = self._senders.setdefault(chat_id, _Sender(BURST, now))
        self._senders.move_to_end(chat_id)
        if len(self._senders) > MOST_CHATS:
            self._senders.popitem(last=False)
        sender.allowed = min(BURST, sender.allowed + (now - sender.at) / SECONDS)
        sender.at = now
        if sender.allowed < 1:
            sender.dropped += 1
            return None
        sender.allowed -= 1
        return StatusMessage(chat_id, shown, sender.dropped)


def shortened(text: str) -> str:
    """Return a text as it is shown: one line of visible characters, with its end cut off."""
    line = " ".join(sanitized(text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
