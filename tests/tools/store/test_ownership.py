import asyncio
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import Store
from deskhand.tools.store.ownership import ChatOwnership
from deskhand.tools.store.schema import ChatFileRow, FileRow
from tests.tools.store.fakes import chat_row, database


def test_chats_and_files_belong_to_those_above_them(tmp_path: Path) -> None:
    async def rows(session: AsyncSession) -> None:
        session.add(chat_row("a"))
        await session.flush()
        child, other = chat_row("b"), chat_row("c")
        child.parent_id = "a"
        session.add_all([child, other])
        await session.flush()
        session.add(
            FileRow(
                id="f",
                chat_id="b",
                kind="recording",
                name="f.mp4",
                media_type="video/mp4",
                size=1,
                sha256="0",
                created_at=1.0,
            )
        )
        await session.flush()
        session.add(ChatFileRow(chat_id="c", file_id="f", created_at=1.0))

    async def scenario() -> list[frozenset[str]]:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            await store.write(rows)
            kin = ChatOwnership(store)
            asked = (("chat", "a"), ("chat", "b"), ("file", "f"), ("file", "no"), ("chat", "no"))
            return [await kin(kind, name) for kind, name in asked]

    found = asyncio.run(scenario())
    assert found == [{"a"}, {"a", "b"}, {"a", "b", "c"}, set(), {"no"}]
