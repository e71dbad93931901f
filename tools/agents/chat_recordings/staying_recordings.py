"""Recordings that stayed on desktops, copied from there while these run."""

from collections.abc import Awaitable, Callable

from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.conversation.run_recording import FetchedRecording, StayingRecording
from deskhand.tools.conversation.views import ChatView

from .chat_recordings import ChatRecordings
from .turn_recording import TurnRecording


class StayingRecordings:
    """Copies recordings that a turn could not store; see ``RecordingSource``.

    ``view`` reads a chat, ``machine_of`` returns a chat's access to a desktop by the desktop's and
    the chat's ids, and ``timeout`` bounds each copy, in seconds.
    """

    def __init__(
        self,
        recordings: ChatRecordings,
        view: Callable[[str], Awaitable[ChatView]],
        machine_of: Callable[[str, str], Awaitable[DesktopMachine]],
        timeout: float,
    ) -> None:
        self._recordings = recordings
        self._view = view
        self._machine_of = machine_of
        self._timeout = timeout

    async def fetch(
        self, chat_id: str, desktop_id: str, staying: StayingRecording
    ) -> FetchedRecording:
        """Store the files of a recording; its turn is not changed.

        Raises:
            UnknownRow: If there is no such chat.
        """
        recording = await self._recording(chat_id, desktop_id)
        return await recording.fetch_again(staying.metadata, staying.end_reason, self._timeout)

    async def clear(self, chat_id: str, desktop_id: str, staying: StayingRecording) -> None:
        """Remove the recording from its desktop; one that cannot be removed stays.

        Raises:
            UnknownRow: If there is no such chat.
        """
        recording = await self._recording(chat_id, desktop_id)
        await recording.remove(staying.metadata["take"])

    async def _recording(self, chat_id: str, desktop_id: str) -> TurnRecording:
        view = await self._view(chat_id)
        machine = await self._machine_of(desktop_id, chat_id)
        return self._recordings.made(
            chat_id, machine, listed_with=view.parent_id or view.id, started=True
        )
