"""Waits of the chats that turns of this process have, and the patience of their turns.

The wait for the database cannot be written to the database. The wait for a person in control ends
with the request that waits; where there are several control planes, the chat's row has it too.
Questions are in the database: :mod:`deskhand.tools.store.chats` reads them. :meth:`ChatWaits.of`
merges both, so that clients find every reason in one field.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from deskhand.tools.conversation.waiting import WaitingFor, WaitKind, most_urgent, waiting_for
from deskhand.tools.kit.support.human_control import HumanControlWaits
from deskhand.tools.store.faults.health import Patience


class ChatWaits:
    """The current waits of all chats.

    ``publish`` is awaited with the id of a chat, and the kind of its waits that have changed.
    ``clock`` counts seconds.
    """

    def __init__(
        self,
        now: Callable[[], float],
        clock: Callable[[], float],
        publish: Callable[[str, WaitKind], Awaitable[None]],
    ) -> None:
        self._now = now
        self._clock = clock
        self._publish = publish
        self._waits: defaultdict[str, list[WaitingFor]] = defaultdict(list)
        self._paused: defaultdict[str, float] = defaultdict(float)
        """Seconds since each chat was last at rest that are not charged to its budget."""
        self._waited: defaultdict[str, float] = defaultdict(float)
        """Seconds for which each chat has waited for anything since it was last at rest."""
        self._for_person: dict[str, HumanControlWaits] = {}
        """Human control that each chat's computer tools have reported already."""

    def of(self, chat_id: str, stored: WaitingFor | None) -> WaitingFor | None:
        """Return what a chat waits for; ``stored`` is the wait that its rows show."""
        waits = self._waits.get(chat_id, ())
        return most_urgent([*waits, *filter(None, (stored,))])

    @asynccontextmanager
    async def waiting(self, chat_id: str, kind: WaitKind) -> AsyncIterator[None]:
        """Report, while the block runs, that the chat waits."""
        wait, began = waiting_for(kind, self._now()), self._clock()
        self._waits[chat_id].append(wait)
        try:
            await self._publish(chat_id, kind)
            yield
        finally:
            self._waits[chat_id].remove(wait)
            if not self._waits[chat_id]:
                del self._waits[chat_id]
            waited = self._clock() - began
            self._waited[chat_id] += waited
            if kind == "database":
                self._paused[chat_id] += waited
            await self._publish(chat_id, kind)

    def since(self, chat_id: str, kind: WaitKind) -> float | None:
        """Return when the wait of a kind has begun, None if the chat does not wait so."""
        waits = self._waits.get(chat_id, ())
        return min([wait.since for wait in waits if wait.kind == kind], default=None)

    def for_person(self, chat_id: str) -> HumanControlWaits:
        """Return the waits of a chat's computer tools for people in control."""
        if chat_id not in self._for_person:
            waits = HumanControlWaits(lambda: self.waiting(chat_id, "human_in_control"))
            self._for_person[chat_id] = waits
        return self._for_person[chat_id]

    def remove(self, chat_id: str) -> None:
        """Forget a chat that was deleted."""
        self._for_person.pop(chat_id, None)
        self.forget(chat_id)

    def paused_seconds(self, chat_id: str) -> float:
        """Return the seconds for which a turn could not work, which are not charged to it."""
        return self._paused.get(chat_id, 0.0)

    def not_charged(self, chat_id: str, seconds: float) -> None:
        """Leave the seconds for which a turn has waited for an answer out of its budget."""
        self._paused[chat_id] += seconds

    def waited_seconds(self, chat_id: str) -> float:
        """Return the seconds for which a turn has waited for people or the database."""
        return self._waited.get(chat_id, 0.0)

    def forget(self, chat_id: str) -> None:
        """Forget the waits of a turn that has ended."""
        self._paused.pop(chat_id, None)
        self._waited.pop(chat_id, None)

    def patience(self, chat_id: str) -> Patience:
        """Return the patience of a chat's turn."""
        return TurnPatience(self, chat_id)


@dataclass(frozen=True)
class TurnPatience:
    """Waits for the end of a fault of the database, and reports that with the chat."""

    waits: ChatWaits
    chat_id: str

    def waiting(self) -> AbstractAsyncContextManager[None]:
        """Report, while the block runs, that the chat waits for the database."""
        return self.waits.waiting(self.chat_id, "database")
