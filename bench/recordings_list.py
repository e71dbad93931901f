"""Measure the list of recordings over 5,000 chats: ``python -m bench.recordings_list``.

GET /api/v0/recordings of a page of 50, beside the query that it replaces, which read all chats in
pages of 100 and each file by itself; beside it the processor time of the service for one request,
which a busy machine hardly changes. Exits 1 if the p95 of 100 requests is over 50 ms on a machine
that was quiet before and after.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.views import ChatView
from deskhand.tools.store import chats, files
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.schema import ChatRow, FileRow, TurnRow
from deskhand.tools.store.tables.base import Base
from tests.system.services import service

from .tables import save

CHATS, PAGE, REQUESTS, OLD_QUERIES = 5000, 50, 100, 5
LIMIT_MS = 50.0
OLD_PAGE = 100


def rows(every: int) -> Iterator[Base]:
    """Yield the rows of the chats; each one that ``every`` divides has a recording of one file."""
    # Of today: retention would remove older recordings during the measurement.
    began = time.time() - CHATS
    for number in range(CHATS):
        name, at = f"chat-{number:05}", began + number
        yield ChatRow(
            **{"id": name, "root_id": name, "title": name, "mode": "general", "state": "waiting"},
            **{"turn": 1, "created_at": at, "updated_at": at},
        )
        recorded = number % every == 0
        recording = {"file_ids": [f"file-{number}"], "status": "stored"} if recorded else {}
        yield TurnRow(chat_id=name, number=1, status="done", started_at=at, recording=recording)
        if recorded:
            yield FileRow(
                **{"id": f"file-{number}", "chat_id": name, "kind": "recording", "name": "v.mp4"},
                **{"media_type": "video/mp4", "size": 1, "sha256": "", "created_at": at},
                details={"metadata": {"video_s": 1.0, "duration_s": 2.0}},
            )


async def fill(database: Path, every: int) -> None:
    """Create the database with its chats."""
    async with await Store.open(database) as store:

        async def add(session: AsyncSession) -> None:
            for row in rows(every):
                session.add(row)

        await store.write(add)


async def old_query(store: Store) -> int:
    """Return how many chats the earlier implementation finds for the page."""
    found: list[ChatView] = []
    cursor: str | None = None
    while len(found) < PAGE:
        at = cursor
        page = await store.read_short(
            lambda s, at=at: chats.page(s, parent=None, state=None, limit=OLD_PAGE, cursor=at)  # type: ignore[misc]
        )
        found += [chat for chat in page.chats if chat.recording_file_ids]
        cursor = page.next_cursor
        if cursor is None:
            break
    await asyncio.gather(*(_files(store, chat) for chat in found[:PAGE]))
    return len(found[:PAGE])


async def _files(store: Store, chat: ChatView) -> None:
    for file_id in chat.recording_file_ids:
        try:
            await store.read(lambda s, name=file_id: files.get(s, name))  # type: ignore[misc]
        except UnknownRow:
            continue


async def old_times(database: Path) -> tuple[list[float], int]:
    """Return the milliseconds of each old query, and how many chats they found."""
    taken, found = [], 0
    async with await Store.open(database) as store:
        for _ in range(OLD_QUERIES):
            began = time.perf_counter()
            found = await old_query(store)
            taken.append(1000 * (time.perf_counter() - began))
    return taken, found


def p95(times: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return round(sorted(times)[int(0.95 * (len(times) - 1))], 1)


def measured(every: int) -> dict[str, float]:
    """Return the p95 of the route and of the old query where each ``every``-th chat is recorded."""
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        data.mkdir(mode=0o700)
        asyncio.run(fill(data / "deskhand.db", every))
        where = ("--data-dir", str(data), "--listen", "127.0.0.1:0")
        with service(Path(name) / "errors.log", "up", *where) as plane:
            taken = []
            process = psutil.Process(plane.process.pid)
            spent = sum(process.cpu_times()[:2])
            for _ in range(REQUESTS):
                began = time.perf_counter()
                listed = plane.get(f"/api/v0/recordings?limit={PAGE}")["recordings"]
                taken.append(1000 * (time.perf_counter() - began))
            cpu = 1000 * (sum(process.cpu_times()[:2]) - spent) / REQUESTS
            old, found = asyncio.run(old_times(data / "deskhand.db"))
        assert len(listed) == found, (len(listed), found)
    times = {"route_p95_ms": p95(taken), "route_cpu_ms": round(cpu, 1)}
    return {**times, "old_query_p95_ms": p95(old), "found": found}


def main() -> int:
    """Print and save the times; return the exit status."""
    quiet = _quiet()
    results = {f"1 of {every} recorded": measured(every) for every in (200, 1)}
    for name, times in results.items():
        print(f"{name:20} {times}")
    save("recordings_list", results)
    missed = max(times["route_p95_ms"] for times in results.values()) > LIMIT_MS
    if missed and not (quiet and _quiet()):
        print("missed, but the machine was not quiet")
        return 0
    return 1 if missed else 0


def _quiet() -> bool:
    return os.getloadavg()[0] < 0.5 * (os.cpu_count() or 1)


if __name__ == "__main__":
    sys.exit(main())
