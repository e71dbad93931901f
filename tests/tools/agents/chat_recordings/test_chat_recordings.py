import asyncio
import errno
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.chat_recordings.chat_recordings import ChatRecordings
from deskhand.tools.agents.chat_recordings.turn_recording import Recorded, TurnRecording
from deskhand.tools.conversation.uploaded import UploadedFile
from deskhand.tools.kit.support.spec import MachineRefused
from deskhand.tools.store.database import FaultTiming, Store
from deskhand.tools.store.errors import DiskLow
from deskhand.tools.store.faults.health import patience
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.stored_files import StoredFiles
from deskhand.tools.store.upload_queue import UploadQueue
from tests.tools.agents.chats.fakes import LIMIT, FakeDesktop, FakeMachine
from tests.tools.store.fakes import chat_row, database
from tests.tools.store.test_upload_queue import FakeDepot


class DiskFiles(StoredFiles):
    """Files on a disk that can be low."""

    low = False

    async def check_room(self) -> None:
        if self.low:
            raise DiskLow("the disk is almost full")


class Bench:
    """A chat that is recorded on a fake desktop."""

    def __init__(self, store: Store, folder: Path, *, moves: bool) -> None:
        self.desktop = FakeDesktop()
        self.begun: list[str] = []
        self.depot = FakeDepot()
        self.put: list[str] = []
        disk = FileStore(folder / "files", moves=moves)
        queue = UploadQueue(disk, self.depot) if moves else None
        self.files = DiskFiles(store, disk, lambda: 1.0, queue)
        self.recordings = ChatRecordings(self.files, self.note_begun)

    def open(self, *, started: bool = False) -> TurnRecording:
        machine = FakeMachine(self.desktop)
        return self.recordings.open("child", machine, listed_with="parent", started=started)

    async def finish(self, timeout: float = LIMIT) -> Recorded:
        return await self.recordings.finish("child", "completed", timeout)

    async def upload(self, path: str, put_url: str) -> UploadedFile | None:
        """Upload as the host of the desktop does."""
        self.put.append(path.rpartition("/")[2])
        data = self.desktop.downloaded(path)
        self.depot.held[put_url.removeprefix("http://depot/")] = data
        return UploadedFile(len(data), hashlib.sha256(data).hexdigest())

    async def note_begun(self, chat_id: str) -> None:
        self.begun.append(chat_id)


@asynccontextmanager
async def bench(folder: Path, *, moves: bool = False) -> AsyncIterator[Bench]:
    timing = FaultTiming(first_delay=0.01, longest_delay=0.02)
    async with (
        await Store.open(database(folder / "deskhand.db"), timing) as store,
        asyncio.timeout(LIMIT),
    ):
        await store.write(_two_chats)
        yield Bench(store, folder, moves=moves)


def test_beginning_twice_at_once_begins_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            recording = b.open()
            await asyncio.gather(*(recording.ensure() for _ in range(3)))
            assert b.desktop.posted("recording/start") == [{"recording_id": "child"}]
            assert b.begun == ["child"]
            assert recording.started

    asyncio.run(scenario())


def test_a_disk_that_is_almost_full_is_the_warning_of_a_turn(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.files.low = True
            await b.open().ensure()
            assert b.desktop.requests == []
            assert (await b.finish()).warning == "not recorded: the disk is almost full"
            b.files.low = False
            await b.open().ensure()
            assert b.begun == ["child"]

    asyncio.run(scenario())


def test_a_wait_after_the_end_begins_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            recording = b.open()
            assert await b.finish() == Recorded()
            await recording.ensure()
            await b.recordings.ensure("child")
            assert b.desktop.requests == []
            assert await b.finish() == Recorded()

    asyncio.run(scenario())


def test_a_recorder_that_could_not_begin_is_asked_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            recording = b.open()
            b.desktop.refuses["start"] = MachineRefused(409, "Failed.", "too many recordings")
            await recording.ensure()
            b.desktop.refuses.clear()
            await recording.ensure()
            recorded = await b.finish()
            assert (recorded.status, recorded.warning) == ("stored", None)

    asyncio.run(scenario())


def test_steps_from_elsewhere_reach_a_recording_that_runs(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            recording = b.open()
            step = {"tool_call_id": "t1", "chat_id": "child"}
            await recording.add_step(step)
            assert b.desktop.requests == []
            await recording.ensure()
            await recording.add_step(step)
            recorded = await b.finish()
            assert recorded.video_times == {"t1": (1.0, 2.0)}
            await recording.add_step(step)
            assert len(b.desktop.posted("steps")) == 1

    asyncio.run(scenario())


def test_a_step_that_does_not_arrive_is_only_a_warning(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            recording = b.open()
            await recording.ensure()
            b.desktop.refuses["steps"] = MachineRefused(500, "Failed to add step.")
            await recording.add_step({"tool_call_id": "t1"})
            recorded = await b.finish()
            assert recorded.status == "stored"
            assert "step is missing" in str(recorded.warning)

    asyncio.run(scenario())


@pytest.mark.parametrize("hurried", [False, True])
def test_a_download_that_takes_too_long_ends_and_leaves_no_file(
    tmp_path: Path, hurried: bool
) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            recording = b.open(started=True)
            stopping = asyncio.Event()
            b.desktop.before["stop"] = lambda: _hang(stopping)
            ending = asyncio.create_task(b.finish(LIMIT if hurried else 0.01))
            await stopping.wait()
            b.recordings.shorten_timeout(0.01)
            recorded = await ending
            assert (recorded.status, recorded.end_reason) == ("none", "failed")
            assert "took longer" in str(recorded.warning)
            recording.shorten_timeout(1.0)

    asyncio.run(scenario())


def test_a_download_that_breaks_off_leaves_nothing_behind(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.open(started=True)
            b.desktop.recorded["child"] = {"steps": [], "started_at": 1.0}
            b.desktop.refuses["video?part=1"] = MachineRefused(404, "Recording not found.")
            recorded = await b.finish()
            assert recorded.status == "none"
            assert "not stored" in str(recorded.warning)
            assert [p for p in (tmp_path / "files").rglob("*") if p.is_file()] == []

    asyncio.run(scenario())


FULL = OSError(errno.ENOSPC, "No space left on device")


class Patient:
    """Waits for the end of a fault; ``room`` is called when the wait begins."""

    def __init__(self, room: Callable[[], object]) -> None:
        self._room = room

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        self._room()
        yield


def test_a_download_that_finds_the_disk_full_is_made_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.open().ensure()
            b.desktop.refuses["video?part=1"] = FULL
            b.desktop.video_size = 5
            with patience(Patient(b.desktop.refuses.clear)):
                recorded = await b.finish()
            assert (recorded.status, recorded.warning, recorded.left) == ("stored", None, False)
            assert len(recorded.file_ids) == 1

    asyncio.run(scenario())


def test_a_recording_for_which_the_disk_stays_full_is_left_on_the_desktop(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.open().ensure()
            b.desktop.refuses["video?part=1"] = FULL
            b.desktop.video_size = 5
            with patience(Patient(lambda: None)):
                recorded = await b.finish(0.05)
            assert (recorded.status, recorded.left) == ("none", True)
            await b.recordings.clear("child")
            assert deleted(b) == []

    asyncio.run(scenario())


def test_leaving_a_recording_lets_it_go_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.open().ensure()
            b.recordings.leave("child")
            assert await b.finish() == Recorded()
            assert b.desktop.recording == "child"

    asyncio.run(scenario())


async def _two_chats(session: AsyncSession) -> None:
    for row in (chat_row("parent"), chat_row("child", parent="parent")):
        session.add(row)
        await session.flush()


async def _hang(begun: asyncio.Event) -> None:
    begun.set()
    await asyncio.Event().wait()


def deleted(b: Bench) -> list[str]:
    return [path for method, path, _ in b.desktop.requests if method == "DELETE"]


def test_what_was_stored_byte_for_byte_is_removed_from_the_desktop(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.open().ensure()
            recorded = await b.finish()
            assert recorded.status == "stored"
            assert deleted(b) == []
            await b.recordings.clear("child")
            assert deleted(b) == ["/api/v0/desktop/recordings/child"]
            await b.recordings.clear("child")
            assert len(deleted(b)) == 1

    asyncio.run(scenario())


@pytest.mark.parametrize("size", [1, 10**9])
def test_a_copy_of_another_size_removes_nothing(tmp_path: Path, size: int) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.open().ensure()
            b.desktop.video_size = size
            await b.finish()
            await b.recordings.clear("child")
            assert deleted(b) == []

    asyncio.run(scenario())


def test_a_desktop_that_is_gone_need_not_be_cleared(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.open().ensure()
            await b.finish()
            b.desktop.refuses["recordings/child"] = MachineRefused(404, "Recording not found.")
            await b.recordings.clear("child")

    asyncio.run(scenario())


def test_what_is_kept_of_a_recording_leads_nowhere_on_its_desktop(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.open().ensure()
            metadata = b.desktop.recorded["child"]
            metadata |= {"recording_file_ids": ["r/1"], "video_url": "/gone"}
            metadata["steps"] = [{"picture_url": "/gone", "tool_call_id": "c"}]
            metadata["steps"][0] |= {"video_start": 1.0, "video_end": 2.0}
            recorded = await b.finish()
            kept = (await b.files.get(recorded.file_ids[0])).metadata
            assert recorded.video_times == {"c": (1.0, 2.0)}
            assert kept["steps"][0]["tool_call_id"] == "c"
            assert not any(word in str(kept) for word in ("_url", "file_id"))

    asyncio.run(scenario())


def test_a_host_that_can_uploads_a_recording_past_this_control_plane(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path, moves=True) as b:
            b.desktop.put = b.upload
            await b.open().ensure()
            recorded = await b.finish()
            assert (recorded.status, recorded.warning) == ("stored", None)
            assert b.put == ["video?part=1", "thumbnail"]
            stored = [*recorded.file_ids, recorded.thumbnail_file_id]
            assert [(await b.files.get(str(one))).waits for one in stored] == [False, False]
            assert [path for path in (tmp_path / "files").rglob("*") if path.is_file()] == []
            assert await b.files.load(recorded.file_ids[0]) == next(iter(b.depot.held.values()))
            # All bytes are stored.
            await b.recordings.clear("child")
            assert deleted(b) == ["/api/v0/desktop/recordings/child"]

    asyncio.run(scenario())


def test_a_host_that_fails_is_asked_once_for_each_recording(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path, moves=True) as b:

            async def fails(path: str, put_url: str) -> None:
                b.put.append(path)

            b.desktop.put = fails
            await b.open().ensure()
            recorded = await b.finish()
            assert (recorded.status, recorded.warning) == ("stored", None)
            assert len(b.put) == 1
            assert (await b.files.get(recorded.file_ids[0])).waits
            await b.open().ensure()
            await b.finish()
            assert len(b.put) == 2

    asyncio.run(scenario())


def test_a_host_that_hangs_does_not_cost_the_recording(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with bench(tmp_path, moves=True) as b:
            b.recordings = ChatRecordings(b.files, b.note_begun, upload_seconds=0.01)
            b.desktop.put = lambda path, put_url: _hang(asyncio.Event())
            await b.open().ensure()
            recorded = await b.finish()
            assert (recorded.status, recorded.left) == ("stored", False)
            assert (await b.files.get(recorded.file_ids[0])).waits

    asyncio.run(scenario())


def test_an_upload_that_is_cut_off_leaves_the_recording_on_its_desktop(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path, moves=True) as b:
            begun = asyncio.Event()
            b.desktop.put = lambda path, put_url: _hang(begun)
            await b.open().ensure()
            ending = asyncio.create_task(b.finish())
            await begun.wait()
            b.recordings.shorten_timeout(0.01)
            assert (await ending).left
            await b.recordings.clear("child")
            assert (deleted(b), b.depot.held) == ([], {})
            # The next attempt stores it.
            b.desktop.put = b.upload
            metadata = b.desktop.recorded["child"]
            again = b.recordings.made(
                "child", FakeMachine(b.desktop), listed_with="parent", started=True
            )
            fetched = await again.fetch_again(metadata, "completed", LIMIT)
            assert (fetched.final, fetched.whole) == (True, True)

    asyncio.run(scenario())


def test_a_host_is_not_asked_without_a_bucket(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.desktop.put = b.upload
            await b.open().ensure()
            recorded = await b.finish()
            assert (recorded.status, b.put) == ("stored", [])

    asyncio.run(scenario())
