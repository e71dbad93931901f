"""Stored files as a whole, on a real database and disk."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.conversation import Image, Message, Text, ToolResult
from deskhand.tools.store import chats, files, messages
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.maintenance import Rebuilt, StorageMaintenance, room_of
from deskhand.tools.store.retention import DAY, RetentionLimits, Room
from deskhand.tools.store.schema import FileRow
from deskhand.tools.store.stored_files import StoredFiles
from tests.tools.store.fakes import chat_row, database

WIDE = Room(10**12, 10**12)


class Shelf:
    """A library whose day the test decides."""

    def __init__(self, store: Store, folder: Path, limits: RetentionLimits) -> None:
        self.now = 1_000_000_000.0
        self.room = WIDE
        self.store = store
        self.folder = folder
        self.files = StoredFiles(store, FileStore(folder), lambda: self.now)
        self.library = StorageMaintenance(
            store, folder, lambda: self.now, limits, lambda _: self.room
        )

    async def put(self, kind: str, name: str = "x", **details: object) -> str:
        self.now += 1.0
        about = FileFacts("a", kind, name, "text/plain", dict(details), listed_with="b")
        return (await self.files.save(b"12345", about)).id

    async def names(self) -> set[str]:
        return {kept.id for kept in await self.store.read(files.kept)}


@asynccontextmanager
async def shelf(folder: Path, limits: RetentionLimits | None = None) -> AsyncIterator[Shelf]:
    async def add(session: AsyncSession) -> None:
        session.add_all([chat_row("a"), chat_row("b")])

    async with await Store.open(database(folder / "deskhand.db")) as store, asyncio.timeout(20):
        await store.write(add)
        yield Shelf(store, folder / "files", limits or RetentionLimits())


def test_old_recordings_go_with_their_bytes(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with shelf(tmp_path) as s:
            old, pinned = await s.put("recording"), await s.put("recording", pinned=True)
            s.now += 91 * DAY
            new = await s.put("recording")
            with s.files.path(old).open("rb") as reader:
                assert [kept.id for kept in await s.library.enforce_limits()] == [old]
                assert reader.read() == b"12345"
            assert await s.names() == {pinned, new}
            assert not s.files.path(old).exists()
            assert await s.library.enforce_limits() == []

    asyncio.run(scenario())


def test_a_full_disk_costs_the_oldest_recordings(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with shelf(tmp_path) as s:
            first, second = await s.put("recording"), await s.put("recording")
            s.now += 2 * DAY
            s.room = Room(free=97, whole=1000)
            assert [kept.id for kept in await s.library.enforce_limits()] == [first]
            assert await s.names() == {second}

    asyncio.run(scenario())


def test_pictures_that_the_model_is_sent_again_stay(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with shelf(tmp_path, RetentionLimits(step_bytes=12)) as s:
            made = [await s.put("step") for _ in range(6)]
            shown = ToolResult("call", (Text("Done."), Image(made[1], "image/png", 9, 9)))
            message = Message("user", (shown, Image(made[3], "image/png", 9, 9)))
            await s.store.write(lambda db: messages.append(db, "b", message, s.now))
            assert {kept.id for kept in await s.library.enforce_limits()} == {
                *(made[2], made[4], made[5])
            }
            assert await s.names() == {made[0], made[1], made[3]}

    asyncio.run(scenario())


def test_a_chat_with_too_many_attachments_loses_its_oldest(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with shelf(tmp_path) as s:
            made = [await s.put("attachment", f"{i}") for i in range(5)]
            recording = await s.put("recording")
            assert await s.files.make_room("b", 3) == made[:2]
            assert await s.files.make_room("b", 3) == await s.files.make_room("a", 3) == []
            assert await s.names() == {*made[2:], recording}

    asyncio.run(scenario())


def test_what_the_database_lost_comes_back_from_the_disk(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with shelf(tmp_path) as s:
            recording = await s.put("recording", "film.mp4", video_s=3.5)
            picture = await s.put("step")
            before = await s.files.get(recording)

            async def lose(session: AsyncSession) -> None:
                await session.execute(delete(FileRow))

            await s.store.write(lose)
            assert await s.library.rebuild() == Rebuilt(1, 0)
            assert await s.files.get(recording) == before
            assert [f.id for f in await s.store.read(lambda n: files.of_chat(n, "b"))] == [
                recording
            ]
            assert picture not in await s.names()
            assert await s.library.rebuild() == Rebuilt(0, 0)
            s.files.path(recording).unlink()
            assert await s.library.rebuild() == Rebuilt(0, 1)
            assert await s.names() == set()

    asyncio.run(scenario())


def test_a_file_of_a_chat_that_is_no_more_comes_back_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with shelf(tmp_path) as s:
            await s.put("recording")
        async with await Store.open(database(tmp_path / "new.db")) as empty:
            library = StorageMaintenance(empty, tmp_path / "files", lambda: 1.0)
            assert await library.rebuild() == Rebuilt(1, 0)
            (kept,) = await empty.read(files.kept)
            assert kept.chat_id is None

    asyncio.run(scenario())


def test_the_room_of_a_disk_is_known(tmp_path: Path) -> None:
    room = room_of(tmp_path / "new")
    assert 0 < room.free <= room.whole


def test_a_pinned_file_outlives_its_time_and_a_lost_database(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with shelf(tmp_path) as s:
            kept, other = await s.put("recording"), await s.put("recording")
            assert (await s.files.pin(kept, True)).pinned
            s.now += 91 * DAY
            assert [gone.id for gone in await s.library.enforce_limits()] == [other]
            await s.store.write(lambda session: session.execute(delete(FileRow)))
            assert await s.library.rebuild() == Rebuilt(1, 0)
            assert (await s.files.get(kept)).pinned
            assert not (await s.files.pin(kept, False)).pinned
            assert [gone.id for gone in await s.library.enforce_limits()] == [kept]

    asyncio.run(scenario())


def test_a_pinned_attachment_is_not_the_one_that_makes_room(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with shelf(tmp_path) as s:
            made = [await s.put("attachment") for _ in range(4)]
            await s.files.pin(made[0], True)
            assert await s.files.make_room("b", 3) == [made[1]]

    asyncio.run(scenario())


def test_a_chat_put_away_long_ago_is_found_unless_something_of_it_is_wanted(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with shelf(tmp_path) as s:
            rows = [chat_row("old"), chat_row("child", parent="old", created=2.0)]
            rows += [chat_row("wanted"), chat_row("new"), chat_row("half")]
            rows.append(chat_row("below", parent="half"))
            for row in rows:
                row.archived = row.id != "below"
            rows[3].updated_at = 100.0

            async def add(session: AsyncSession) -> None:
                session.add_all(rows)

            await s.store.write(add)
            recording = await s.files.save(b"x", FileFacts("wanted", "recording", "x", "video/mp4"))
            await s.files.pin(recording.id, True)
            found = await s.store.read(lambda session: chats.archived_before(session, 50.0))
            assert found == ["old"]

    asyncio.run(scenario())
