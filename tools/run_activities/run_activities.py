"""The part of people in runs: messages, answers, stops and control sessions beside the steps.

A step is a call of the agent, and the hash of a turn covers its steps. What people do is therefore
stored in rows of its own, and shown between the steps by its time:

- messages, answers and stops are rows, added when the chat has accepted them,
- control sessions come from the recording, which knows their begin, their end and their place in
  the video; without a recording there is no desktop that a person could control.

The text of a message or an answer belongs to the conversation, which a share link may leave out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Protocol

from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.store.errors import UnknownRow

from . import rows
from .activity import Activity, control_sessions, in_order, without_texts
from .late_stops import LateStops
from .repeated_run import RepeatedRuns

Json = dict[str, Any]
Kind = Literal["message", "answer", "stop"]


class InterruptedChats(Protocol):
    """The chats whose turns can be interrupted."""

    async def interrupt(self, chat_id: str) -> bool:
        """Interrupt the turn of a chat."""


class RunActivities:
    """Adds and lists what people did, and does what concerns the run as a whole."""

    def __init__(
        self,
        repository: ChatRepository,
        chats: InterruptedChats,
        resolve: Callable[[str | None, str], object],
        start: Callable[[str], object],
    ) -> None:
        """Take ``resolve`` and ``start`` for runs that begin again, see ``RepeatedRuns``."""
        self._repository = repository
        self._late_stops = LateStops(repository, chats.interrupt)
        self.stop_after_step = self._late_stops.request
        self.run_again = RepeatedRuns(repository, resolve, start).run_again

    async def close(self) -> None:
        """Forget the stops that have not happened yet."""
        await self._late_stops.close()

    async def add(self, chat_id: str, kind: Kind, by: str, text: str = "") -> None:
        """Add what the person ``by`` just did."""
        activity = Activity("", kind, by, text, self._repository.now())
        await self._repository.store.write(lambda s: rows.insert(s, chat_id, activity))
        with suppress(UnknownRow):
            await self._repository.change(chat_id, lambda _: None)

    async def of(
        self, chat_id: str, recorded: Iterable[Mapping[str, Any]], *, conversation: bool
    ) -> Sequence[Activity]:
        """Return the activities of a chat by their time, with its recorded control sessions.

        Without ``conversation`` they have no texts.
        """
        stored = await self._repository.store.read(lambda s: rows.of_chat(s, chat_id))
        found = in_order([*stored, *control_sessions(recorded)])
        return found if conversation else without_texts(found)
