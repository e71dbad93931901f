"""The list of runs over 10,000 chats: the first page, searches, and a page far down.

    python -m bench.run_list

The baseline is the same search by a client that reads all chats page by page and filters them, as
a script had to before there was a search.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.views import ChatView, Page
from deskhand.tools.run_list.run_filter import RunFilter, words_of
from deskhand.tools.run_list.run_list import RunList
from deskhand.tools.store import chats
from deskhand.tools.store.database import Store
from deskhand.tools.store.schema import ChatRow, MessageRow, TurnRow

CHATS = 10_000
PAGE = 24
TIMES = 7


async def fill(session: AsyncSession) -> None:
    await session.execute(insert(ChatRow), [_chat(number) for number in range(CHATS)])
    await session.execute(insert(MessageRow), [_prompt(number) for number in range(CHATS)])
    await session.execute(insert(TurnRow), [_turn(number) for number in range(CHATS)])


def _chat(number: int) -> dict[str, object]:
    return {
        "id": f"c{number:06}",
        "root_id": f"c{number:06}",
        "title": f"Order {number % 97} of lamps",
        "mode": "computer_use",
        "state": "waiting",
        "turn": 1,
        "created_at": float(number),
        "updated_at": float(number),
    }


def _prompt(number: int) -> dict[str, object]:
    return {
        "chat_id": f"c{number:06}",
        "position": 0,
        "role": "user",
        "content": [{"type": "text", "text": f"Open the shop and order {number}. " * 8}],
        "created_at": 1.0,
    }


def _turn(number: int) -> dict[str, object]:
    return {
        "chat_id": f"c{number:06}",
        "number": 1,
        "status": "done",
        "started_at": 1.0,
        "report": f"The order {number} was sent. " * 10,
    }


async def _median_ms(work: Callable[[], Awaitable[object]]) -> float:
    times = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        await work()
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times)


async def _measured(store: Store) -> None:
    runs = RunList(store)

    async def next_page(cursor: str | None) -> Page:
        return await store.read_short(
            lambda s: chats.page(s, parent=None, state=None, limit=100, cursor=cursor)
        )

    async def by_client(word: str) -> list[ChatView]:
        page, found = await next_page(None), []
        while True:
            found += [chat for chat in page.chats if word in chat.title + chat.report]
            if page.next_cursor is None:
                return found
            page = await next_page(page.next_cursor)

    rows: dict[str, Callable[[], Awaitable[object]]] = {
        "first page": lambda: runs.page(RunFilter(), PAGE, None),
        "page 300": lambda: runs.page(RunFilter(), PAGE, "c002800"),
        "search, many matches": lambda: runs.page(RunFilter(words_of("order lamps")), PAGE, None),
        "search, one match": lambda: runs.page(RunFilter(words_of("order 4711.")), PAGE, None),
        "search, no match": lambda: runs.page(RunFilter(words_of("zebra")), PAGE, None),
    }
    for name, work in rows.items():
        print(f"{name:24} {await _median_ms(work):8.1f} ms")
    begun = time.perf_counter()
    await by_client("zebra")
    print(f"{'no match, by a client':24} {1000 * (time.perf_counter() - begun):8.1f} ms")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with await Store.open(Path(folder) / "deskhand.db") as store:
            await store.write(fill)
            await _measured(store)


if __name__ == "__main__":
    asyncio.run(main())
