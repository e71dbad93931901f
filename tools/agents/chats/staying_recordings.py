"""Recordings that stayed on desktops, copied from there while these run."""

from deskhand.tools.conversation.run_recording import FetchedRecording, StayingRecording

from .desktop_assignment import DesktopAssignment
from .recordings import ChatRecordings, TurnRecording
from .repository import ChatRepository


class StayingRecordings:
    """Copies recordings that a turn could not store; see ``RecordingSource``."""

    def __init__(
        self,
        repository: ChatRepository,
        assignment: DesktopAssignment,
        recordings: ChatRecordings,
    ) -> None:
        self._repository = repository
        self._assignment = assignment
        self._recordings = recordings

    async def fetch(
        self, chat_id: str, desktop_id: str, staying: StayingRecording
    ) -> FetchedRecording:
        """Store the files of a recording; its turn is not changed.

        Raises:
            UnknownRow: If there is no such chat.
        """
        recording = await self._recording(chat_id, desktop_id)
        timeout = self._repository.settings.recording_seconds
        return await recording.fetch_again(staying.metadata, staying.end_reason, timeout)

    async def clear(self, chat_id: str, desktop_id: str, staying: StayingRecording) -> None:
        """Remove the recording from its desktop; one that cannot be removed stays.

        Raises:
            UnknownRow: If there is no such chat.
        """
        recording = await self._recording(chat_id, desktop_id)
        await recording.remove(staying.metadata["take"])

    async def _recording(self, chat_id: str, desktop_id: str) -> TurnRecording:
        view = await self._repository.view(chat_id)
        machine = await self._assignment.machine_of(desktop_id, chat_id)
        return self._recordings.made(
            chat_id, machine, listed_with=view.parent_id or view.id, started=True
        )
