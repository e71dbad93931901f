import asyncio
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.run_list.run_filter import RunFilter, words_of
from deskhand.tools.run_list.run_list import RunList
from deskhand.tools.store import chats, messages, turns
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.schema import FileRow
from tests.tools.store.fakes import chat_row, database

PROMPTS = {"a": "Order drei Lämpchen", "b": "Write 100% of the report", "c": "Order three lamps"}


async def _add(session: AsyncSession) -> None:
    for number, (chat_id, prompt) in enumerate(PROMPTS.items()):
        row = chat_row(chat_id, created=float(number))
        row.mode, row.title = "computer_use", f"Run {chat_id}"
        session.add(row)
        await session.flush()
        await messages.append(session, chat_id, Message("user", (Text(prompt),)), 1.0)
        await messages.append(session, chat_id, Message("assistant", (Text("zebra"),)), 1.0)
        turn = await turns.begin(session, await chats.get(session, chat_id), 1.0)
        turn.outcome, turn.report = ("failed" if chat_id == "b" else "done"), f"Report of {chat_id}"
    (await chats.get(session, "b")).state = "requires_action"
    (await chats.get(session, "c")).model = "gpt-6"
    # Neither a run: a conversation that has not begun, and an archived run.
    session.add(chat_row("d"))
    hidden = chat_row("e")
    hidden.mode, hidden.archived = "computer_use", True
    session.add(hidden)


def found(folder: Path, *filters: RunFilter) -> list[str]:
    async def scenario() -> list[str]:
        async with await Store.open(database(folder / "deskhand.db")) as store:
            await store.write(_add)
            runs = RunList(store)
            pages = [await runs.page(wanted, 10, None) for wanted in filters]
            return ["".join(chat.id for chat in page.chats) for page in pages]

    return asyncio.run(scenario())


def test_runs_are_listed_newest_first_page_by_page(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            await store.write(_add)
            runs = RunList(store)
            first = await runs.page(RunFilter(), 2, None)
            assert [chat.id for chat in first.chats] == ["c", "b"]
            second = await runs.page(RunFilter(), 2, first.next_cursor)
            assert ([chat.id for chat in second.chats], second.next_cursor) == (["a"], None)
            with pytest.raises(UnknownRow):
                await runs.page(RunFilter(), 2, "nothing")

    asyncio.run(scenario())


def test_each_word_is_searched_in_title_prompt_and_report(tmp_path: Path) -> None:
    searches = (
        "lamps order",
        "lämpchen",
        "RUN lämp",
        "report",
        "REPORT lamps",
        "100%",
        "zebra",
        "1%0",
    )
    wanted = ["c", "a", "a", "cba", "c", "b", "", ""]
    assert found(tmp_path, *(RunFilter(words_of(text)) for text in searches)) == wanted


def test_filters_hold_together(tmp_path: Path) -> None:
    assert found(
        tmp_path,
        RunFilter(outcome="done"),
        RunFilter(outcome="done", words=("lamps",)),
        RunFilter(model="gpt-6"),
        RunFilter(needs_person=True),
        RunFilter(recorded=True),
        RunFilter(since=1.0, until=2.0),
    ) == ["ca", "c", "c", "b", "", "b"]


def test_pinned_runs_those_of_a_person_and_families_are_found(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            await store.write(_add)

            async def change(session: AsyncSession) -> None:
                (await chats.get(session, "a")).owner = "person:p1"
                (await chats.get(session, "b")).parent_id = "a"
                # Its parent only lends its name to callers of the tools.
                (await chats.get(session, "c")).parent_id = "d"
                for chat_id, pinned in (("a", True), ("b", False)):
                    details = {"pinned": True} if pinned else {}
                    session.add(
                        FileRow(
                            id=f"f-{chat_id}",
                            chat_id=chat_id,
                            kind="recording",
                            name="r.mp4",
                            media_type="video/mp4",
                            size=1,
                            sha256="",
                            created_at=1.0,
                            details=details,
                        )
                    )

            await store.write(change)
            runs = RunList(store)
            for wanted, ids in (
                (RunFilter(pinned=True), "a"),
                (RunFilter(owner="person:p1"), "a"),
                (RunFilter(families=True), "ca"),
            ):
                page = await runs.page(wanted, 10, None)
                assert "".join(chat.id for chat in page.chats) == ids

    asyncio.run(scenario())
