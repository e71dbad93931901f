"""Recording of one turn: its recorder on the desktop service, and the copy of its files."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.conversation.run_recording import (
    NOT_STORED,
    FetchedRecording,
    RecordedSession,
    session,
    video_times,
    without_addresses,
)
from deskhand.tools.conversation.uploaded import FileUpload, UploadedFile
from deskhand.tools.conversation.views import FileView
from deskhand.tools.kit.support.spec import MachineRefused, MachineUnavailable
from deskhand.tools.secrets.masking import masked_json
from deskhand.tools.store.errors import DiskLow, StoreError
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.stored_files import StoredFiles

Json = dict[str, Any]
API = "/api/v0/desktop"
STEP_MISSING = "the recording was changed on its desktop: it lacks the last step that was sent"
CLEARING_SECONDS = 5.0
"""Timeout of removing the desktop's copy. What stays is removed with the desktop."""

UPLOAD_SECONDS = 15.0
"""Timeout of an upload past this control plane, besides the time that its bytes take."""
UPLOAD_RATE = 2 << 20
"""Bytes a second below which an upload past this control plane is given up."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recorded:
    """Result of recording one turn."""

    status: str = "none"
    end_reason: str | None = None
    complete: bool | None = None
    file_ids: tuple[str, ...] = ()
    thumbnail_file_id: str | None = None
    parts: tuple[Json, ...] = ()
    warning: str | None = None
    video_times: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Start and end of each tool call in the video, in seconds, by the call's id."""
    session: RecordedSession | None = None
    """The stored files; ``None`` if there are none."""
    unreachable: bool = False
    """True if the desktop did not answer."""
    left: bool = False
    """True if the files stayed on the desktop, as they could not be stored here in time."""
    metadata: Json | None = None
    """Of the recorder, which has stopped; ``None`` if it did not answer."""


class RecordedSecrets(Protocol):
    """The secrets that recordings must not show."""

    def values(self, chats: Sequence[str]) -> Sequence[str]:
        """Return the values that were given to a chat; ``chats`` are its id and its ancestors'."""

    def hide(self, text: str) -> str:
        """Return a text with the values of all chats masked."""


class NoSecrets:
    """The secrets of recordings in tests: none."""

    def values(self, chats: Sequence[str]) -> Sequence[str]:
        """Return none."""
        return ()

    def hide(self, text: str) -> str:
        """Return the text."""
        return text


class TurnRecording:
    """The recording of one turn; the recorder knows it by the id of the chat."""

    def __init__(
        self,
        chat_id: str,
        machine: DesktopMachine,
        files: StoredFiles,
        *,
        listed_with: str,
        downloads: asyncio.Semaphore,
        on_start: Callable[[], Awaitable[None]],
        started: bool,
        secrets: RecordedSecrets,
        upload_seconds: float = UPLOAD_SECONDS,
    ) -> None:
        self._timeout: asyncio.Timeout | None = None
        self._chat_id = chat_id
        self._machine = machine
        self._files = files
        self._listed_with = listed_with
        self._downloads = downloads
        self._lock = asyncio.Lock()
        self._on_start = on_start
        self._started = started
        self._secrets = secrets
        self._upload_seconds = upload_seconds
        self._closed = False
        self._warning: str | None = None
        self._stored_take: int | None = None
        self._metadata: Json | None = None
        self._uploads = True
        """False when a file has come to the disk here although there is a bucket."""
        self._last_step = ""
        """Call of the last step that the recorder has accepted."""

    @property
    def started(self) -> bool:
        """True if the recorder has confirmed that it records."""
        return self._started

    def leave_out(self) -> None:
        """Never start the recorder."""
        self._closed = True

    async def ensure(self) -> None:
        """Start the recorder unless it runs; after the end of the turn, do nothing."""
        async with self._lock:
            if self._started or self._closed:
                return
            try:
                # The video is stored here in the end.
                await self._files.check_room()
                if values := self._secrets.values((self._chat_id, self._listed_with)):
                    # The recorder's steps contain what is typed: it must know what to redact.
                    await self._post("secrets", {"values": list(values)})
                await self._post("recording/start", {"recording_id": self._chat_id})
            except (DiskLow, MachineRefused, MachineUnavailable) as error:
                self._warning = f"not recorded: {error}"
            else:
                self._started, self._warning = True, None
                await self._on_start()

    async def add_step(self, step: Json) -> None:
        """Send the recorder a step that it cannot observe, such as a command or a file edit."""
        if not self._started or self._closed:
            return
        try:
            await self._post(f"recordings/{self._chat_id}/steps", step)
            self._last_step = step["tool_call_id"]
        except (MachineRefused, MachineUnavailable) as error:
            self._warning = f"a step is missing in the recording: {error}"

    async def finish(self, end_reason: str, timeout: float) -> Recorded:
        """Stop the recorder and store its files; raise nothing except on cancellation.

        ``timeout`` bounds the whole, in seconds. Files that are not stored by then stay on the
        desktop service.
        """
        async with self._lock:
            # A wait of the parent may call ``ensure`` at any time; after this it must not start a
            # new recording.
            self._closed = True
            if not self._started:
                return Recorded(warning=self._warning)
            try:
                async with asyncio.timeout(timeout) as self._timeout:
                    metadata = self._metadata = await self._stop()
                    async with self._downloads:
                        return await self._store(metadata, end_reason)
            except (MachineRefused, MachineUnavailable, StoreError, OSError) as error:
                reason = str(error) or f"it took longer than {timeout:.0f} s"
                unreachable = isinstance(error, MachineUnavailable)
                if unreachable:
                    reason = "its desktop is gone"
                warning = f"{NOT_STORED}: {reason}"
                # A recording that the desktop refuses to send is no better when it has ended.
                left = isinstance(error, StoreError | OSError)
                return Recorded(
                    end_reason="failed",
                    warning=warning,
                    unreachable=unreachable,
                    left=left,
                    metadata=self._metadata,
                )

    async def fetch_again(
        self, metadata: Json, end_reason: str, timeout: float
    ) -> FetchedRecording:
        """Store the files of a recording that ended; its recorder may record a later turn."""
        try:
            async with asyncio.timeout(timeout), self._downloads:
                recorded = await self._store(metadata, end_reason)
        except MachineRefused as error:
            log.warning("a recording of chat %s cannot be fetched: %s", self._chat_id, error)
            return FetchedRecording(final=True)
        except (MachineUnavailable, StoreError, OSError) as error:
            log.info("a recording of chat %s is not stored yet: %s", self._chat_id, error)
            return FetchedRecording()
        return FetchedRecording(
            recorded.session,
            recorded.video_times,
            final=True,
            whole=self._stored_take is not None,
        )

    async def clear(self) -> None:
        """Remove the desktop service's copy, if its files were stored here byte for byte."""
        if self._stored_take is None:
            return
        take, self._stored_take = self._stored_take, None
        await self.remove(take)

    async def remove(self, take: int) -> None:
        """Remove one take from the desktop."""
        path = f"{API}/recordings/{self._chat_id}"
        try:
            await self._machine.request(
                "DELETE", path, params={"take": str(take)}, timeout=CLEARING_SECONDS
            )
        except (MachineRefused, MachineUnavailable) as error:
            # A copy that stays is removed with the desktop.
            log.info("a stored recording stays on its desktop: %s", error)

    def shorten_timeout(self, timeout: float) -> None:
        """Shorten the timeout of a ``finish`` that is running."""
        if self._timeout is not None and not self._timeout.expired():
            soon = asyncio.get_running_loop().time() + timeout
            self._timeout.reschedule(min(soon, self._timeout.when() or soon))

    async def _stop(self) -> Json:
        """Stop the recorder; return the metadata of what it recorded."""
        await self._post("recording/stop", {"recording_id": self._chat_id})
        answer = await self._machine.request("GET", f"{API}/recordings/{self._chat_id}")
        # The desktop knows only the values of the chats that work there.
        metadata: Json = masked_json(without_addresses(answer), self._secrets.hide)
        if self._last_step not in {"", *(step["tool_call_id"] for step in metadata["steps"])}:
            self._warning = STEP_MISSING
        return metadata

    async def _store(self, metadata: Json, end_reason: str) -> Recorded:
        stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime(metadata["started_at"]))
        videos = [
            await self._fetch(
                *(f"video?part={part['index']}", f"recording-{stamp}.mp4", "video/mp4", metadata),
                size=part["bytes"],
            )
            for part in metadata["parts"]
        ]
        thumbnail = await self._thumbnail(f"thumbnail-{stamp}.jpg", metadata)
        # Only a copy with all of its bytes permits ``clear``: a download may have been cut short.
        if [video.size for video in videos] == [part["bytes"] for part in metadata["parts"]]:
            self._stored_take = metadata.get("take")
        # "completed" is the recorder's reason for every regular stop: the turn knows why.
        if metadata["end_reason"] != "completed":
            end_reason = metadata["end_reason"]
        file_ids = tuple(video.id for video in videos)
        stored = session(
            metadata | {"end_reason": end_reason}, file_ids, thumbnail.id if thumbnail else None
        )
        return Recorded(
            status="stored",
            end_reason=end_reason,
            complete=metadata["complete"],
            file_ids=file_ids,
            thumbnail_file_id=stored.thumbnail_file_id,
            parts=stored.parts,
            warning=self._warning,
            video_times=video_times(metadata["steps"], self._chat_id),
            session=stored,
        )

    async def _thumbnail(self, name: str, metadata: Json) -> FileView | None:
        try:
            return await self._fetch("thumbnail", name, "image/jpeg", metadata)
        except (MachineRefused, MachineUnavailable, StoreError, OSError) as error:
            self._warning = f"no thumbnail: {error}"
            return None

    async def _fetch(
        self, what: str, name: str, media_type: str, metadata: Json, *, size: int = 0
    ) -> FileView:
        path = f"{API}/recordings/{self._chat_id}/{what}"
        facts = FileFacts(
            chat_id=self._chat_id,
            kind="thumbnail" if what == "thumbnail" else "recording",
            name=name,
            media_type=media_type,
            details=metadata,
            listed_with=self._listed_with,
        )
        # One failure is enough: the next file would wait for the same host or bucket.
        upload = self._machine.uploader(path) if self._uploads else None
        stored = await self._files.receive(
            lambda to: self._machine.download(path, to),
            facts,
            None if upload is None else partial(self._in_time, upload, size),
        )
        self._uploads = not stored.waits
        return stored

    async def _in_time(self, upload: FileUpload, size: int, put_url: str) -> UploadedFile | None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._upload_seconds + size / UPLOAD_RATE):
                return await upload(put_url)
        return None

    async def _post(self, path: str, body: Json) -> None:
        await self._machine.request("POST", f"{API}/{path}", json=body)
