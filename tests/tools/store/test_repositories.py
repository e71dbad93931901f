"""The rows of chats, messages, turns, steps and files, on a real database."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import text as sql
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.conversation import Image, Message, Text, ToolCall, ToolResult
from deskhand.tools.store import chats, files, messages, steps, turns
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.file_store import FileStore, StoredFile
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.stored_files import StoredFiles
from tests.tools.store.fakes import chat_row, database

Work = Callable[[AsyncSession], Awaitable[None]]
SPEECH = (
    Message("user", (Text("Look"), Image("f1", "image/png", 1280, 720))),
    Message("assistant", (Text("I do"), ToolCall("t1", "left_click", {"x": [1, 2]}, "computer"))),
    Message("user", (ToolResult("t1", (Text("done"),), toolset="computer"),)),
)


def _write(tmp_path: Path, *works: Work) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            for work in works:
                await store.write(work)
            assert await store.write_short(lambda connection: connection.in_transaction())
            await store.close()

    asyncio.run(scenario())


async def _chat(session: AsyncSession) -> None:
    session.add(chat_row("a"))


def test_messages_are_read_as_they_were_written(tmp_path: Path) -> None:
    async def say(session: AsyncSession) -> None:
        for message in SPEECH:
            await messages.append(session, "a", message, 2.0)

    async def check(session: AsyncSession) -> None:
        assert await messages.history(session, "a") == SPEECH
        assert [view.position for view in await messages.views(session, "a")] == [0, 1, 2]

    _write(tmp_path, _chat, say, check)


def test_the_queue_is_first_in_first_out_and_no_part_of_the_history(tmp_path: Path) -> None:
    async def work(session: AsyncSession) -> None:
        assert await messages.promote(session, "a") is False
        for text in ("one", "two"):
            await messages.enqueue(session, "a", Message("user", (Text(text),)), 1.0)
        await messages.append(session, "a", Message("assistant", (Text("busy"),)), 1.0)
        assert await messages.queue_length(session, "a") == 2
        assert len(await messages.history(session, "a")) == 1
        assert await messages.promote(session, "a") is True
        texts = [m.content[0] for m in await messages.history(session, "a")]
        assert texts == [Text("busy"), Text("one")]
        shown = [view.to_json() for view in await messages.views(session, "a")]
        assert [view["queued"] for view in shown] == [False, False, True]

    _write(tmp_path, _chat, work)


def test_a_descendant_is_one_at_any_depth_but_not_the_chat_itself(tmp_path: Path) -> None:
    async def work(session: AsyncSession) -> None:
        for row in (chat_row("a"), chat_row("b", parent="a"), chat_row("c", parent="b")):
            session.add(row)
            await session.flush()
        below = [
            await chats.is_descendant(session, chat, above)
            for chat, above in (("b", "a"), ("c", "a"), ("a", "a"), ("a", "c"), ("x", "a"))
        ]
        assert below == [True, True, False, False, False]
        assert await chats.ancestors(session, "c") == ("b", "a")

    _write(tmp_path, work)


def test_chats_that_are_above_each_other_do_not_hang_the_check(tmp_path: Path) -> None:
    async def work(session: AsyncSession) -> None:
        first, second = chat_row("a"), chat_row("b", parent="a")
        session.add(first)
        await session.flush()
        session.add(second)
        await session.flush()
        first.parent_id = "b"
        await session.flush()
        assert await chats.is_descendant(session, "a", "elsewhere") is False
        assert await chats.ancestors(session, "a") == ("b", "a")

    _write(tmp_path, work)


@pytest.mark.sqlite
def test_chats_with_recordings_are_found_by_their_index(tmp_path: Path) -> None:
    async def fill(session: AsyncSession) -> None:
        for number in range(6):
            session.add(chat_row(f"{number}", created=number))
            await session.flush()
            turn = await turns.begin(session, await chats.get(session, f"{number}"), 1.0)
            turn.recording = {"file_ids": ["f"]} if number % 2 else {"status": "none"}
        later = await turns.begin(session, await chats.get(session, "1"), 2.0)
        later.recording = {"file_ids": []}

    async def check(session: AsyncSession) -> None:
        first = await session.run_sync(chats.recorded, 2, None)
        assert [chat.id for chat in first.chats] == ["5", "3"]
        last = await session.run_sync(chats.recorded, 2, first.next_cursor)
        assert [chat.id for chat in last.chats] == ["1"]
        assert last.next_cursor is None
        plan = "EXPLAIN QUERY PLAN SELECT chat_id FROM turns WHERE recorded"
        assert "ix_turns_recorded" in str(list(await session.execute(sql(plan))))

    _write(tmp_path, fill, check)


def test_files_that_exist_are_found_at_once(tmp_path: Path) -> None:
    async def work(session: AsyncSession) -> None:
        about = FileFacts(None, "recording", "v.mp4", "video/mp4")
        await files.insert(session, StoredFile("f1", 3, "00"), about, 1.0)
        await session.flush()
        assert list(await files.existing(session, ["f1", "lost"])) == ["f1"]
        assert await files.existing(session, []) == {}

    _write(tmp_path, work)


def test_deleting_a_chat_takes_all_below_it_along(tmp_path: Path) -> None:
    async def fill(session: AsyncSession) -> None:
        for row in (chat_row("a"), chat_row("b", parent="a"), chat_row("z")):
            session.add(row)
            await session.flush()
        about = FileFacts("b", "recording", "v.mp4", "video/mp4", listed_with="a")
        await files.insert(session, StoredFile("f1", 3, "00"), about, 1.0)
        await messages.append(session, "b", SPEECH[0], 1.0)
        await turns.begin(session, await chats.get(session, "b"), 1.0)

    async def delete(session: AsyncSession) -> None:
        assert await chats.delete_tree(session, "a") == ["f1"]

    async def check(session: AsyncSession) -> None:
        assert [chat.id for chat in await chats.in_states(session, ["waiting"])] == ["z"]
        with pytest.raises(UnknownRow, match="no file has the id f1"):
            await files.get(session, "f1")
        assert await messages.history(session, "b") == ()

    _write(tmp_path, fill, delete, check)


def test_steps_are_numbered_and_found_by_their_call(tmp_path: Path) -> None:
    async def work(session: AsyncSession) -> None:
        chat = await chats.get(session, "a")
        ids = []
        for call_id in ("t1", "t2", "t1"):
            connection = await session.connection()
            step = await connection.run_sync(
                steps.begin,
                "a",
                chat.turn,
                tool_call_id=call_id,
                tool="execute",
                title="execute: ls",
                action=None,
                arguments={"command": "ls"},
                now=1.0,
            )
            ids.append(step.id)
        found, parent, lacks_execute = await session.run_sync(steps.of_call, "a", "t1")
        assert found is not None
        assert (found.id, found.index) == (ids[2], 2)
        assert (parent, lacks_execute) == (None, False)
        assert await session.run_sync(steps.of_call, "a", "t3") == (None, None, False)
        with pytest.raises(UnknownRow, match="no chat"):
            await session.run_sync(steps.of_call, "gone", "t1")
        assert await connection.run_sync(chats.count_change, "a", 3.0) == (chat.turn, 1)
        with pytest.raises(UnknownRow, match="no chat"):
            await connection.run_sync(chats.count_change, "gone", 3.0)
        ended = steps.StepEnd("done", {"type": "tool_result"}, 2.0, timings={"act_ms": 1})
        await connection.run_sync(steps.end, ids[0], ended)
        assert [step.id for step in await steps.running(session, "a")] == ids[1:]
        assert await steps.chats_with_running(session) == ["a"]
        await steps.place_in_video(session, "a", 0, {"t2": (1.5, 2.5)})
        shown = await steps.views(session, "a")
        assert [step.video_start for step in shown] == [None, 1.5, None]
        with pytest.raises(UnknownRow):
            await connection.run_sync(steps.end, "gone", ended)

    _write(tmp_path, _chat, work)


def test_a_turn_is_running_until_it_has_ended(tmp_path: Path) -> None:
    async def work(session: AsyncSession) -> None:
        chat = await chats.get(session, "a")
        assert await turns.current(session, chat) is None
        with pytest.raises(UnknownRow):
            await turns.running(session, chat)
        turn = await turns.begin(session, chat, 5.0)
        assert (turn.number, chat.turn) == (1, 1)
        assert await turns.running(session, chat) is turn
        turn.status = "done"
        with pytest.raises(UnknownRow):
            await turns.running(session, chat)

    _write(tmp_path, _chat, work)


def test_the_files_of_a_chat_are_its_own_and_those_listed_with_it(tmp_path: Path) -> None:
    async def work(session: AsyncSession) -> None:
        session.add(chat_row("b", parent="a"))
        await session.flush()
        kinds = (("f1", "recording", "a"), ("f2", "step", None), ("f3", "attachment", None))
        for name, kind, listed in kinds:
            about = FileFacts("b", kind, name, "application/octet-stream", listed_with=listed)
            await files.insert(session, StoredFile(name, 3, "00"), about, float(name[1]))
        assert [file.id for file in await files.of_chat(session, "a")] == ["f1"]
        assert [file.id for file in await files.of_chat(session, "b")] == ["f1", "f3"]
        with pytest.raises(UnknownRow):
            await files.delete(session, "f9")

    _write(tmp_path, _chat, work)


def test_a_stored_file_has_its_row_and_its_bytes_until_it_is_deleted(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            await store.write(_chat)
            stored = StoredFiles(store, FileStore(tmp_path / "files"), lambda: 7.0)
            about = FileFacts("a", "attachment", "note.txt", "text/plain", {"pages": 1})
            view = await stored.save(b"words", about)
            assert await stored.load(view.id) == b"words"
            assert await stored.get(view.id) == view
            assert (view.size, view.created_at, view.metadata) == (5, 7.0, {"pages": 1})
            assert view.to_json()["name"] == "note.txt"
            await stored.delete(view.id)
            assert not stored.path(view.id).exists()
            with pytest.raises(UnknownRow):
                await stored.get(view.id)

    asyncio.run(scenario())


def test_bytes_whose_row_cannot_be_written_are_not_kept(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            stored = StoredFiles(store, FileStore(tmp_path / "files"), lambda: 7.0)
            with pytest.raises(Exception, match=r"(?i)foreign key"):
                await stored.save(b"words", FileFacts("nobody", "attachment", "n", "text/plain"))
            assert [p for p in (tmp_path / "files").rglob("*") if p.is_file()] == []

    asyncio.run(scenario())
