"""Recordings of turns that end: stored now or left for later, and written to the turn's row.

The result of a recording is kept here until the end of its turn is committed, because the end of a
turn is repeated after a fault: the second attempt must not lose what the first one has stored.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.desktops.ports import ChatSettings, LostRecordings
from deskhand.tools.conversation.run_recording import (
    FOLLOWS,
    LATER,
    StayingRecording,
    with_session,
)
from deskhand.tools.conversation.run_recording import ended as ended_recording
from deskhand.tools.store import steps
from deskhand.tools.store.errors import StoreUnavailable
from deskhand.tools.store.schema import ChatRow, TurnRow

from .chat_recordings import ChatRecordings
from .turn_recording import Recorded

LEFT_BEHIND = "the recording stayed on the desktop that was lost"


class EndedRecordings:
    """Results of the recordings of turns whose end is not committed yet.

    ``desktop_of`` returns the id of a chat's desktop, if it has one.
    """

    def __init__(
        self,
        recordings: ChatRecordings,
        desktop_of: Callable[[str], Awaitable[str | None]],
        settings: ChatSettings,
        lost_recordings: LostRecordings | None,
    ) -> None:
        self._recordings = recordings
        self._desktop_of = desktop_of
        self._settings = settings
        self._lost_recordings = lost_recordings
        self._lost: defaultdict[str, list[str]] = defaultdict(list)
        """Desktops that each chat has lost in its turn, by chat id."""
        self._recorded: dict[str, Recorded] = {}

    def lost(self, chat_id: str, desktop_id: str) -> None:
        """Record that a chat has lost a desktop in its turn, with a recording on it."""
        self._lost[chat_id].append(desktop_id)

    async def finish(self, chat_id: str, end_reason: str) -> Recorded:
        """Store the recording of a turn that has ended; return the same result when repeated."""
        if chat_id not in self._recorded:
            timeout = self._settings.recording_seconds
            recorded = await self._recordings.finish(chat_id, end_reason, timeout)
            recorded = await self._left(chat_id, recorded, end_reason)
            self._recorded[chat_id] = await self._settled(chat_id, recorded, timeout)
        return self._recorded[chat_id]

    async def finish_requeued(self, chat_id: str) -> Recorded:
        """Store the recording of a turn that the next start of the program continues."""
        timeout = self._settings.closing_seconds
        recorded = await self._recordings.finish(chat_id, "closed", timeout)
        # Without a record the next start finds what the desktop left all the same.
        with suppress(StoreUnavailable):
            recorded = await self._left(chat_id, recorded, "closed")
        return recorded

    async def committed(self, chat_id: str) -> None:
        """Remove the desktop's copy after the commit of the turn's end."""
        del self._recorded[chat_id]
        await self._recordings.clear(chat_id)

    def forget(self, chat_id: str) -> None:
        """Forget the result for a chat that was deleted."""
        self._recorded.pop(chat_id, None)

    async def _left(self, chat_id: str, recorded: Recorded, end_reason: str) -> Recorded:
        """Leave a recording that could not be stored for later."""
        desktop_id = await self._desktop_of(chat_id)
        if not recorded.left or self._lost_recordings is None or desktop_id is None:
            return recorded
        metadata = recorded.metadata
        # A recorder that could not be stopped may go on in the next turn.
        staying = None if metadata is None else StayingRecording(metadata, end_reason)
        await self._lost_recordings.leave(chat_id, desktop_id, staying)
        return replace(recorded, warning=f"{recorded.warning}; {FOLLOWS}")

    async def _settled(self, chat_id: str, recorded: Recorded, timeout: float) -> Recorded:
        """Wait for the recordings of the desktops that the chat has lost in this turn."""
        lost = self._lost.pop(chat_id, [])
        current = await self._desktop_of(chat_id)
        if recorded.unreachable and current is not None and current not in lost:
            lost.append(current)
        if self._lost_recordings is None or not lost:
            return recorded
        settled = await self._lost_recordings.settle(chat_id, lost, timeout)
        if settled == "pending":
            return replace(recorded, warning=LATER)
        return Recorded() if recorded.unreachable and settled == "stored" else recorded


async def write_recording(
    session: AsyncSession, chat: ChatRow, turn: TurnRow, recorded: Recorded
) -> None:
    """Write the result of a recording to the row of its turn, and its times to the steps."""
    # No recorder ran in this process; one that ran before a restart was lost with its desktop.
    # The row may have sessions from before a restart, or of desktops that were lost.
    stored = turn.recording
    if recorded.session is not None:
        stored = with_session(stored, recorded.session)
    missing = recorded.session is None and recorded.warning is None
    if missing and not stored.get("sessions"):
        if stored.get("status") != "recording":
            return
        recorded = Recorded(end_reason="service_lost", complete=False, warning=LEFT_BEHIND)
    turn.recording = ended_recording(stored, recorded.end_reason, recorded.warning)
    await steps.place_in_video(session, chat.id, turn.number, recorded.video_times)
