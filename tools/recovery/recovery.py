"""Recovery of recordings: takes over what a desktop left when it died, and stores it once.

While a desktop runs, :mod:`.late_storing` stores what a turn had to leave there.

One task for each dead desktop, begun when the desktop ends, when this program starts, or when a
turn misses its recording:

    wait for the desktop's last process ──> list its recordings ──> for each: copy, verify, store,
    remove (:mod:`.states`)

- The row of a recording has its state. A task that was cut off, by a failure or by the end of the
  program, continues at that state; failures are retried with a growing delay.
- The ids of the stored files follow from the row, so that storing again after a kill replaces the
  bytes that were stored under these ids before. Their rows, the turn and the state are written in
  one transaction.
- A recorder that closed a part wrote its files before. A session whose files the turn names already
  is not stored again: its desktop died between the storing and the removal of its copy.
"""

import asyncio
import contextlib
import errno
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.run_recording import StayingRecording
from deskhand.tools.store import chats
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError, UnknownRow
from deskhand.tools.store.file_store import FileStore, StoredFile
from deskhand.tools.store.files import FileFacts, described
from deskhand.tools.store.schema import ChatRow, LeftRecordingRow

from . import late_storing, rows
from .copies import Copies
from .late_storing import LateStoring
from .ports import DesktopRemains, FinishedSession, Finisher, LeftRecording, RunningDesktops
from .states import Action, LeftState, after, next_action

log = logging.getLogger(__name__)

UNSTORED = (LeftState.LEFT, LeftState.COPIED, LeftState.VERIFIED)
ELSEWHERE_SECONDS = 0.5
"""Between two checks whether another control plane has stored a recording."""
ENDING_SECONDS = 15.0
"""Time for which a turn waits for the end of a desktop that does not answer any more."""

FIRST_DELAY, LONGEST_DELAY = 1.0, 30.0
"""Seconds between two attempts after a failure."""

Settled = Literal["stored", "pending", "none"]


@dataclass(eq=False)
class _Desktop:
    """The work on one dead desktop."""

    task: asyncio.Task[None] | None = None
    late: LateStoring | None = None
    listed: asyncio.Event = field(default_factory=asyncio.Event)
    recordings: set[str] = field(default_factory=set)


class RecordingRecovery:
    """Stores the recordings of dead desktops with their chats.

    ``ended`` returns when all processes of a desktop that can write a recording have ended.
    ``finisher`` is called when the first recording was copied. ``folder`` receives the copies, on
    the file system of the stored files.
    """

    def __init__(
        self,
        store: Store,
        disk: FileStore,
        folder: Path,
        remains: DesktopRemains,
        ended: Callable[[str], Awaitable[None]],
        finisher: Callable[[], Finisher],
        now: Callable[[], float] = time.time,
        first_delay: float = FIRST_DELAY,
        late_delay: float = late_storing.FIRST_DELAY,
    ) -> None:
        self._store = store
        self._disk = disk
        self._remains = remains
        self._ended = ended
        self._finisher = finisher
        self._now = now
        self._first_delay = first_delay
        self._late_delay = late_delay
        self._copies = Copies(folder, remains)
        self._desktops: dict[str, _Desktop] = {}
        self._closed = False
        self.on_stored: Callable[[str], Awaitable[None]] = _ignore
        """Awaited with a chat's id when a recording was stored with it."""
        self.leads: Callable[[], bool] = _always
        """Returns whether this control plane recovers, of several for the same desktops."""
        self._source: RunningDesktops | None = None

    def use(self, source: RunningDesktops) -> None:
        """Copy recordings from desktops that run; call it before anything begins."""
        self._source = source

    async def begin_all(self) -> None:
        """Begin with every desktop that is dead or ends, or whose recordings are in work."""
        left = await asyncio.to_thread(self._remains.list)
        unfinished = await self._store.read(rows.unfinished)
        known = [
            *left.ending,
            *(one.desktop_id for one in left.recordings),
            *(row.desktop_id for row in unfinished),
        ]
        for desktop_id in dict.fromkeys(known):
            self.begin(desktop_id)

    def begin(self, desktop_id: str) -> None:
        """Begin with one desktop, unless its task runs."""
        if self._closed or desktop_id in self._desktops or not self.leads():
            return
        work = self._desktops[desktop_id] = _Desktop()
        work.task = asyncio.create_task(
            self._recover(desktop_id, work), name=f"recover {desktop_id}"
        )

    async def leave(self, chat_id: str, desktop_id: str, staying: StayingRecording | None) -> None:
        """Record that a chat's recording stayed on a desktop, and begin to store it later.

        Without ``staying`` it is stored when the desktop has ended.

        Raises:
            StoreError: If the record cannot be written.
        """
        left = LeftRecording(desktop_id, chat_id, ())
        await self._store.write(lambda db: rows.leave(db, left, staying, self._now()))
        self.begin(desktop_id)
        work = self._desktops.get(desktop_id)
        if work is not None and work.late is not None:
            work.late.added.set()

    async def settle(self, chat_id: str, desktop_ids: Sequence[str], seconds: float) -> Settled:
        """Wait until the recordings of a chat on its lost desktops are stored, at most so long.

        Return whether that of the last of these desktops is stored, whether some are still
        ``pending``, or ``none`` where it left nothing.
        """
        for desktop_id in desktop_ids:
            self.begin(desktop_id)
        try:
            async with asyncio.timeout(seconds):
                if not self.leads():
                    await self._settle_elsewhere(chat_id, desktop_ids)
                for name, work in list(self._desktops.items()):
                    await self._settle(chat_id, work, awaited=name in desktop_ids)
        except TimeoutError:
            return "pending"
        for desktop_id in desktop_ids[-1:]:
            if await self._store.read(lambda db: rows.stored(db, desktop_id, chat_id)):  # noqa: B023
                return "stored"
        return "none"

    async def close(self) -> None:
        """Cancel the tasks; the next start continues them."""
        self._closed = True
        tasks = [work.task for work in self._desktops.values() if work.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _settle(self, chat_id: str, work: _Desktop, *, awaited: bool) -> None:
        if awaited:
            # A desktop that did not answer may be alive, only slow: its end may never come.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ENDING_SECONDS):
                    await work.listed.wait()
        if chat_id in work.recordings and work.task is not None:
            await asyncio.wait({work.task})

    async def _settle_elsewhere(self, chat_id: str, desktop_ids: Sequence[str]) -> None:
        """Wait until the control plane that leads has stored what it has found, if anything."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + ENDING_SECONDS
        while True:
            found = await self._store.read(lambda db: rows.found_of(db, chat_id, desktop_ids))
            works = [row for row in found if row.state in UNSTORED]
            if not works and (found or loop.time() >= deadline):
                return
            await asyncio.sleep(ELSEWHERE_SECONDS)

    async def _recover(self, desktop_id: str, work: _Desktop) -> None:
        delay = self._first_delay
        try:
            await self._wait_for_end(desktop_id, work)
            while True:
                try:
                    await self._recover_once(desktop_id, work)
                except (OSError, StoreError) as error:
                    log.warning("a recording of desktop %s waits: %s", desktop_id, error)
                else:
                    return
                await asyncio.sleep(delay)
                delay = min(2 * delay, LONGEST_DELAY)
        except Exception:
            # The next start, or the next round of ``begin_all``, tries again.
            log.exception("the recordings of desktop %s could not be recovered", desktop_id)
        finally:
            work.listed.set()
            del self._desktops[desktop_id]

    async def _wait_for_end(self, desktop_id: str, work: _Desktop) -> None:
        if self._source is None:
            await self._ended(desktop_id)
            return
        work.late = LateStoring(
            *(self._store, self._source, desktop_id, self._discard, self.on_stored, self._now),
            self._late_delay,
        )
        storing = asyncio.create_task(work.late.run(), name=f"store from {desktop_id}")
        try:
            await self._ended(desktop_id)
        finally:
            storing.cancel()
            (failure,) = await asyncio.gather(storing, return_exceptions=True)
            if isinstance(failure, Exception):
                log.error("storing from desktop %s failed", desktop_id, exc_info=failure)

    async def _recover_once(self, desktop_id: str, work: _Desktop) -> None:
        found = await asyncio.to_thread(self._remains.list)
        if desktop_id in found.ending:
            raise BlockingIOError(errno.EAGAIN, "the desktop is locked")
        left = {one.recording_id: one for one in found.recordings if one.desktop_id == desktop_id}
        for row in await self._store.read(rows.unfinished):
            if row.desktop_id == desktop_id and row.recording_id not in left:
                left[row.recording_id] = LeftRecording(desktop_id, row.recording_id, ())
        work.recordings = set(left)
        work.listed.set()
        for one in left.values():
            await self._recover_recording(one)

    async def _recover_recording(self, left: LeftRecording) -> None:
        row = await self._store.write(lambda db: rows.known(db, left, self._now()))
        state = LeftState(row.state)
        if state is LeftState.REMOVED and left.files:
            # It was removed, and is there again: nothing may be stored from it a second time.
            await asyncio.to_thread(self._remains.remove, left)
        while True:
            is_owned = await self._store.read(lambda db: rows.owned(db, left.recording_id))
            age = self._now() - row.found_at
            action = next_action(state, owned=is_owned, age=age)
            if action is Action.NOTHING:
                return
            succeeded = await self._do(action, row, left)
            state = after(action, succeeded=succeeded)
            # Storing has written its state together with the rows of the files.
            if state is not LeftState.STORED:
                await self._write_state(row.id, state)

    async def _write_state(self, row_id: str, state: LeftState) -> None:
        await self._store.write(lambda db: rows.move(db, row_id, state))

    async def _do(self, action: Action, row: LeftRecordingRow, left: LeftRecording) -> bool:
        match action:
            case Action.COPY:
                return await self._copy(row, left)
            case Action.VERIFY:
                return await asyncio.to_thread(self._copies.same, row.id, left)
            case Action.STORE:
                return await self._store_recording(row, left)
        await asyncio.to_thread(self._remains.remove, left)
        await asyncio.to_thread(self._copies.drop, row.id)
        return True

    async def _copy(self, row: LeftRecordingRow, left: LeftRecording) -> bool:
        if not any(name.endswith(".mp4") for name in left.files):
            log.warning("the recording %s has no video any more", left.recording_id)
            await asyncio.to_thread(self._remains.remove, left)
            return False
        await asyncio.to_thread(self._copies.make, row.id, left)
        return True

    async def _store_recording(self, row: LeftRecordingRow, left: LeftRecording) -> bool:
        chat_id = left.recording_id
        finish = await asyncio.to_thread(self._finisher)
        found = await asyncio.to_thread(finish, self._copies.folder(row.id), chat_id)
        if not found:
            log.warning("the recording %s of desktop %s cannot be read", chat_id, left.desktop_id)
            await asyncio.to_thread(self._remains.remove, left)
            await asyncio.to_thread(self._copies.drop, row.id)
            return False
        chat = await self._store.read(lambda db: chats.get(db, chat_id))
        linked = [await asyncio.to_thread(self._link, row, chat, one) for one in found]

        async def write(db: AsyncSession) -> list[str]:
            gone: list[str] = []
            for one in linked:
                if await rows.is_stored(db, chat_id, one.session.metadata):
                    gone += one.file_ids
                    continue
                strays = await rows.remove_strays(db, chat_id, one.session.metadata)
                gone += [file_id for file_id in strays if file_id not in one.file_ids]
                await rows.add_session(
                    *(db, chat_id, one.session.metadata, one.videos, one.thumbnail, self._now())
                )
            await rows.finish(db, row.id, self._now())
            return gone

        made = [file_id for one in linked for file_id in one.file_ids]
        try:
            gone = await self._store.write(write)
        except UnknownRow:
            # The chat was deleted meanwhile.
            await self._discard(made)
            raise
        await self._discard(gone)
        await self.on_stored(chat_id)
        return True

    async def _discard(self, file_ids: Sequence[str]) -> None:
        for file_id in file_ids:
            await asyncio.to_thread(self._disk.delete, file_id)

    def _link(self, row: LeftRecordingRow, chat: ChatRow, one: FinishedSession) -> "_Linked":
        began = time.gmtime(one.metadata["started_at"])
        stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", began)
        take = one.metadata["take"]
        videos = [
            self._linked(
                f"{row.id}/{take}/{video.name}",
                video,
                rows.facts(chat, one.metadata, f"recording-{stamp}.mp4", thumbnail=False),
            )
            for video in one.videos
        ]
        thumbnail = one.thumbnail and self._linked(
            f"{row.id}/{take}/thumbnail",
            one.thumbnail,
            rows.facts(chat, one.metadata, f"thumbnail-{stamp}.jpg", thumbnail=True),
        )
        return _Linked(one, videos, thumbnail or None)

    def _linked(self, name: str, path: Path, facts: FileFacts) -> tuple[StoredFile, FileFacts]:
        stored = self._disk.link(path, str(uuid.uuid5(uuid.NAMESPACE_OID, name)))
        self._disk.describe(stored.id, described(stored, facts, self._now()))
        return stored, facts


@dataclass(frozen=True)
class _Linked:
    """A finished session whose bytes are in the store."""

    session: FinishedSession
    videos: list[tuple[StoredFile, FileFacts]]
    thumbnail: tuple[StoredFile, FileFacts] | None

    @property
    def file_ids(self) -> list[str]:
        files = [*self.videos, *((self.thumbnail,) if self.thumbnail else ())]
        return [stored.id for stored, _ in files]


async def _ignore(_: str) -> None:
    """Do nothing."""


def _always() -> bool:
    """Return that there is no other control plane for these desktops."""
    return True
