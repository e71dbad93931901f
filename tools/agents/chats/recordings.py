"""Recordings of chats at work: begun with the first action, stored when the turn ends.

A recorder that fails never fails the work: what went wrong is said in the result.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.conversation.views import FileView
from deskhand.tools.kit.support.spec import MachineRefused, MachineUnavailable
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.stored_files import StoredFiles

Json = dict[str, Any]
API = "/api/v0/desktop"
DOWNLOADS = 4
"""Videos that are fetched at the same time."""

CLEARING_SECONDS = 5.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recorded:
    """What became of the recording of one turn."""

    status: str = "none"
    end_reason: str | None = None
    complete: bool | None = None
    file_ids: tuple[str, ...] = ()
    thumbnail_file_id: str | None = None
    parts: tuple[Json, ...] = ()
    warning: str | None = None
    video_times: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Where in the video a tool call is shown, by its id."""

    def to_json(self) -> Json:
        """Return what a turn keeps of it."""
        return {
            "status": self.status,
            "end_reason": self.end_reason,
            "complete": self.complete,
            "file_ids": list(self.file_ids),
            "thumbnail_file_id": self.thumbnail_file_id,
            "parts": list(self.parts),
            "warning": self.warning,
        }


class TurnRecording:
    """The recording of one turn; its id is the chat's."""

    def __init__(
        self,
        chat_id: str,
        machine: DesktopMachine,
        files: StoredFiles,
        *,
        listed_with: str,
        downloads: asyncio.Semaphore,
        begun: Callable[[], Awaitable[None]],
        started: bool,
        secrets: Callable[[], Sequence[str]],
    ) -> None:
        self._patience: asyncio.Timeout | None = None
        self._chat_id = chat_id
        self._machine = machine
        self._files = files
        self._listed_with = listed_with
        self._downloads = downloads
        self._lock = asyncio.Lock()
        self._begun = begun
        self._started = started
        self._secrets = secrets
        self._closed = False
        self._warning: str | None = None
        self._kept: int | None = None

    @property
    def started(self) -> bool:
        """Whether the recorder said that it records."""
        return self._started

    async def ensure(self) -> None:
        """Begin unless it has begun; after the end of the turn this does nothing."""
        async with self._lock:
            if self._started or self._closed:
                return
            try:
                if values := self._secrets():
                    # The desktop writes down what is typed there, and must know what to mask.
                    await self._post("secrets", {"values": list(values)})
                await self._post("recording/start", {"recording_id": self._chat_id})
            except (MachineRefused, MachineUnavailable) as error:
                self._warning = f"not recorded: {error}"
            else:
                self._started, self._warning = True, None
                await self._begun()

    async def note(self, step: Json) -> None:
        """Tell the recorder of a step that it cannot see by itself."""
        if not self._started or self._closed:
            return
        try:
            await self._post(f"recordings/{self._chat_id}/steps", step)
        except (MachineRefused, MachineUnavailable) as error:
            self._warning = f"a step is missing in the recording: {error}"

    async def finish(self, end_reason: str, patience: float) -> Recorded:
        """End the recording and store it; never raises but when cancelled.

        ``patience`` bounds the whole in seconds. What is not stored by then is still whole on
        the desktop service.
        """
        async with self._lock:
            self._closed = True
            if not self._started:
                return Recorded(warning=self._warning)
            try:
                async with asyncio.timeout(patience) as self._patience, self._downloads:
                    return await self._store(end_reason)
            except (MachineRefused, MachineUnavailable, StoreError, OSError) as error:
                reason = str(error) or f"it took longer than {patience:.0f} s"
                if isinstance(error, MachineUnavailable):
                    reason = "its desktop is gone"
                return Recorded(end_reason="failed", warning=f"recording not stored: {reason}")

    async def clear(self) -> None:
        """Remove from the desktop service what was stored here, byte for byte."""
        if self._kept is None:
            return
        path, take = f"{API}/recordings/{self._chat_id}", {"take": str(self._kept)}
        self._kept = None
        try:
            await self._machine.request("DELETE", path, params=take, timeout=CLEARING_SECONDS)
        except (MachineRefused, MachineUnavailable) as error:
            # It goes with the desktop then.
            log.info("a stored recording stays on its desktop: %s", error)

    def hurry(self, patience: float) -> None:
        """Shorten the patience of a finish that goes on."""
        if self._patience is not None and not self._patience.expired():
            soon = asyncio.get_running_loop().time() + patience
            self._patience.reschedule(min(soon, self._patience.when() or soon))

    async def _store(self, end_reason: str) -> Recorded:
        await self._post("recording/stop", {"recording_id": self._chat_id})
        answer = await self._machine.request("GET", f"{API}/recordings/{self._chat_id}")
        told: Json = _without_addresses(answer)
        stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime(told["started_at"]))
        videos = [
            await self._fetch(
                f"video?part={part['index']}", f"recording-{stamp}.mp4", "video/mp4", told
            )
            for part in told["parts"]
        ]
        thumbnail = await self._thumbnail(f"thumbnail-{stamp}.jpg", told)
        if [video.size for video in videos] == [part["bytes"] for part in told["parts"]]:
            self._kept = told.get("take")
        return Recorded(
            status="stored",
            # The recorder knows only its own reasons; the turn's is in its place.
            end_reason=end_reason if told["end_reason"] == "completed" else told["end_reason"],
            complete=told["complete"],
            file_ids=tuple(video.id for video in videos),
            thumbnail_file_id=thumbnail.id if thumbnail else None,
            parts=_parts(told["parts"], videos),
            warning=self._warning,
            video_times=_video_times(told["steps"], self._chat_id),
        )

    async def _thumbnail(self, name: str, told: Json) -> FileView | None:
        try:
            return await self._fetch("thumbnail", name, "image/jpeg", told)
        except (MachineRefused, MachineUnavailable, StoreError, OSError) as error:
            self._warning = f"no thumbnail: {error}"
            return None

    async def _fetch(self, what: str, name: str, media_type: str, told: Json) -> FileView:
        unfinished = await asyncio.to_thread(self._files.incoming)
        try:
            path = f"{API}/recordings/{self._chat_id}/{what}"
            await self._machine.download(path, unfinished)
            about = FileFacts(
                chat_id=self._chat_id,
                kind="thumbnail" if what == "thumbnail" else "recording",
                name=name,
                media_type=media_type,
                details=told,
                listed_with=self._listed_with,
            )
            return await self._files.adopt(unfinished, about)
        finally:
            await asyncio.to_thread(unfinished.unlink, missing_ok=True)

    async def _post(self, path: str, body: Json) -> None:
        await self._machine.request("POST", f"{API}/{path}", json=body)


class ChatRecordings:
    """The recordings of the turns that go on now; ``begun`` is told of a chat's.

    ``secrets`` gives the values that may be read nowhere.
    """

    def __init__(
        self,
        files: StoredFiles,
        begun: Callable[[str], Awaitable[None]],
        secrets: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._secrets = secrets
        self._files = files
        self._begun = begun
        self._downloads = asyncio.Semaphore(DOWNLOADS)
        self._open: dict[str, TurnRecording] = {}
        self._ending: set[TurnRecording] = set()
        self._ended: dict[str, TurnRecording] = {}
        self._longest = float("inf")

    def open(
        self, chat_id: str, machine: DesktopMachine, *, listed_with: str, started: bool
    ) -> TurnRecording:
        """Make ready to record a turn; ``started`` if it was in an earlier life of ours."""
        recording = TurnRecording(
            chat_id,
            machine,
            self._files,
            listed_with=listed_with,
            downloads=self._downloads,
            begun=lambda: self._begun(chat_id),
            started=started,
            secrets=self._secrets,
        )
        self._open[chat_id] = recording
        return recording

    async def ensure(self, chat_id: str) -> None:
        """Begin the recording of a chat if it is at work on a desktop."""
        recording = self._open.get(chat_id)
        if recording is not None:
            await recording.ensure()

    async def finish(self, chat_id: str, end_reason: str, patience: float) -> Recorded:
        """End and store the recording of a chat's turn, if there is one."""
        recording = self._open.pop(chat_id, None)
        if recording is None:
            return Recorded()
        self._ending.add(recording)
        self._ended[chat_id] = recording
        try:
            return await recording.finish(end_reason, min(patience, self._longest))
        finally:
            self._ending.discard(recording)

    async def clear(self, chat_id: str) -> None:
        """Called when it is written down what became of a chat's recording."""
        recording = self._ended.pop(chat_id, None)
        if recording is not None:
            await recording.clear()

    def hurry(self, patience: float) -> None:
        """Give those that are being stored, and all later ones, only so many seconds."""
        self._longest = patience
        for recording in self._ending:
            recording.hurry(patience)

    def leave(self, chat_id: str) -> None:
        """Let the recorder go on for the next control plane."""
        self._open.pop(chat_id, None)


# Addresses and ids of files on the desktop; the stored ones have their own.
_OF_A_DESKTOP = ("_url", "file_id", "file_ids")


def _without_addresses(told: Any) -> Any:
    """What was told of a recording, but for where its desktop has it: that ends with it."""
    match told:
        case dict():
            kept = {name: one for name, one in told.items() if not name.endswith(_OF_A_DESKTOP)}
            return {name: _without_addresses(one) for name, one in kept.items()}
        case list():
            return [_without_addresses(one) for one in told]
        case _:
            return told


def _parts(told: Sequence[Json], videos: Sequence[FileView]) -> tuple[Json, ...]:
    return tuple(
        {
            "file_id": video.id,
            "video_start": part["video_start"],
            "bytes": part["bytes"],
            "end_reason": part["end_reason"],
        }
        for part, video in zip(told, videos, strict=True)
    )


def _video_times(steps: Sequence[Json], chat_id: str) -> dict[str, tuple[float, float]]:
    return {
        step["tool_call_id"]: (step["video_start"], step["video_end"])
        for step in steps
        if step.get("tool_call_id") and step.get("chat_id") in ("", None, chat_id)
    }
