"""Recordings of chats at work: started with the first tool call, stored when the turn ends.

The recorder runs in the desktop service. :mod:`.turn_recording` starts and stops it, and copies its
files:

- ``ensure`` starts the recorder before the first tool call of a turn. A turn without calls has no
  recording.
- ``finish`` stops it, downloads the videos and the thumbnail, and lists them with the parent. The
  host of the desktop puts them straight to the bucket, if there is one and the host is another one.
- ``clear`` removes the desktop service's copy, and only after the turn's row names the stored
  files. Until then a crash loses nothing: the copy is still there.
- ``leave`` keeps the recorder running when the control plane ends and its desktops stay.
- ``fetch_again`` copies a recording that ``finish`` could not store; see
  :mod:`deskhand.tools.recovery.late_storing`.

A failure of the recorder never fails the turn: it becomes the ``warning`` of the result.
"""

import asyncio
from collections.abc import Awaitable, Callable

from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.store.stored_files import StoredFiles

from .turn_recording import (
    UPLOAD_SECONDS,
    NoSecrets,
    Recorded,
    RecordedSecrets,
    TurnRecording,
)

DOWNLOADS = 4
"""Videos that are downloaded at the same time; more would only share the same disk."""


class ChatRecordings:
    """The recordings of all running turns.

    ``on_start`` is awaited with a chat's id when its recorder has started. ``secrets`` has the
    values to mask in what the recorder writes. An upload by another host may take
    ``upload_seconds`` besides the time for its bytes; then the file is downloaded.
    """

    def __init__(
        self,
        files: StoredFiles,
        on_start: Callable[[str], Awaitable[None]],
        secrets: RecordedSecrets | None = None,
        upload_seconds: float = UPLOAD_SECONDS,
    ) -> None:
        self._secrets = secrets or NoSecrets()
        self._files = files
        self._upload_seconds = upload_seconds
        self._on_start = on_start
        self._downloads = asyncio.Semaphore(DOWNLOADS)
        self._open: dict[str, TurnRecording] = {}
        self._ending: set[TurnRecording] = set()
        self._ended: dict[str, TurnRecording] = {}
        self._longest = float("inf")

    def open(
        self,
        chat_id: str,
        machine: DesktopMachine,
        *,
        listed_with: str,
        started: bool,
        wanted: bool = True,
    ) -> TurnRecording:
        """Create the recording of a turn.

        ``started`` if the recorder runs since before the last restart of the control plane;
        without ``wanted`` it never starts.
        """
        recording = self.made(chat_id, machine, listed_with=listed_with, started=started)
        if not wanted:
            recording.leave_out()
        self._open[chat_id] = recording
        return recording

    def made(
        self, chat_id: str, machine: DesktopMachine, *, listed_with: str, started: bool
    ) -> TurnRecording:
        """Return a recording of a chat that is not the one of its current turn."""
        return TurnRecording(
            chat_id,
            machine,
            self._files,
            listed_with=listed_with,
            downloads=self._downloads,
            on_start=lambda: self._on_start(chat_id),
            started=started,
            secrets=self._secrets,
            upload_seconds=self._upload_seconds,
        )

    async def ensure(self, chat_id: str) -> None:
        """Start the recorder of a chat that is at work on a desktop."""
        recording = self._open.get(chat_id)
        if recording is not None:
            await recording.ensure()

    async def finish(self, chat_id: str, end_reason: str, timeout: float) -> Recorded:
        """Stop and store the recording of a chat's turn, if there is one."""
        recording = self._open.pop(chat_id, None)
        if recording is None:
            return Recorded()
        self._ending.add(recording)
        self._ended[chat_id] = recording
        try:
            return await recording.finish(end_reason, min(timeout, self._longest))
        finally:
            self._ending.discard(recording)

    async def clear(self, chat_id: str) -> None:
        """Remove the desktop's copy; call it after the result of ``finish`` was committed."""
        recording = self._ended.pop(chat_id, None)
        if recording is not None:
            await recording.clear()

    def shorten_timeout(self, timeout: float) -> None:
        """Limit the recordings that are being stored, and all later ones, to so many seconds."""
        self._longest = timeout
        for recording in self._ending:
            recording.shorten_timeout(timeout)

    def leave(self, chat_id: str) -> None:
        """Forget a recording without stopping it; the next control plane continues it."""
        self._open.pop(chat_id, None)
