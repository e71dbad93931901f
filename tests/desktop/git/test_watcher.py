import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from deskhand.desktop.git.errors import Unreadable
from deskhand.desktop.git.repositories import working_trees
from deskhand.desktop.git.repository_state import Repository
from deskhand.desktop.git.touched_paths import PathStore
from deskhand.desktop.git.watcher import Watcher, WatchIntervals
from deskhand.desktop.tool_calls.caller import CallingChat
from tests.desktop.processes.service import LIMIT

CHAT = str(uuid4())


class FakeReader:
    """Returns the changes that a test sets, and counts the reads."""

    def __init__(self) -> None:
        self.diff = ""
        self.fails = False
        self.reads = 0

    async def roots(
        self, paths: Sequence[str], known: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        return working_trees(paths, known)

    async def read(self, root: str) -> Repository:
        self.reads += 1
        if self.fails:
            raise Unreadable(root, "just so")
        return Repository(root, "main", "", self.diff)


def play(
    pace: WatchIntervals,
    scenario: Callable[[PathStore, FakeReader, Any, asyncio.Event], Awaitable[None]],
) -> None:
    async def scene() -> None:
        store, reader, asked = PathStore(), FakeReader(), asyncio.Event()
        watcher = Watcher(store, reader, pace, wall=lambda: 0.0)
        changes = watcher.changes(CHAT, asked)
        async with asyncio.timeout(LIMIT):
            await scenario(store, reader, changes, asked)
        await changes.aclose()

    asyncio.run(scene())


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").touch()
    return folder


def test_a_touched_path_is_published_and_so_is_each_change(tmp_path: Path) -> None:
    async def scenario(
        store: PathStore, reader: FakeReader, changes: Any, asked: asyncio.Event
    ) -> None:
        first = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        store.note(CallingChat(CHAT), [str(repository(tmp_path) / "file")])
        message = json.loads(await first)
        assert message["type"] == "changes"
        assert message["scanned_at"] == "1970-01-01T00:00:00Z"
        assert [r["repo_root"] for r in message["repositories"]] == [str(tmp_path)]
        reader.diff = "+x"
        asked.set()
        assert json.loads(await anext(changes))["repositories"][0]["unified_diff"] == "+x"

    play(WatchIntervals(longest=1000.0, shortest=0.0), scenario)


def test_without_a_signal_the_repository_is_polled(tmp_path: Path) -> None:
    async def scenario(
        store: PathStore, reader: FakeReader, changes: Any, asked: asyncio.Event
    ) -> None:
        store.note(CallingChat(CHAT), [str(repository(tmp_path))])
        await anext(changes)
        reader.fails = True
        second = asyncio.ensure_future(anext(changes))
        while reader.reads < 3:  # noqa: ASYNC110 -- the fake signals nothing
            await asyncio.sleep(0)
        reader.fails = False
        reader.diff = "+later"
        assert "+later" in await second

    play(WatchIntervals(longest=0.0, shortest=0.0), scenario)


def test_a_repository_that_goes_is_taken_back(tmp_path: Path) -> None:
    async def scenario(
        store: PathStore, reader: FakeReader, changes: Any, asked: asyncio.Event
    ) -> None:
        store.note(CallingChat(CHAT), [str(repository(tmp_path))])
        await anext(changes)
        (tmp_path / ".git/HEAD").unlink()
        asked.set()
        (found,) = json.loads(await anext(changes))["repositories"]
        assert found["removed"]

    play(WatchIntervals(longest=1000.0, shortest=0.0), scenario)


def test_many_signals_cause_one_read(tmp_path: Path) -> None:
    now = 0.0

    async def scene() -> None:
        nonlocal now
        store, reader, asked = PathStore(), FakeReader(), asyncio.Event()
        pace = WatchIntervals(longest=1000.0, shortest=0.2)
        watcher = Watcher(store, reader, pace, clock=lambda: now)
        store.note(CallingChat(CHAT), [str(repository(tmp_path))])
        changes = watcher.changes(CHAT, asked)
        await anext(changes)
        reader.diff = "+x"
        waiting = asyncio.ensure_future(anext(changes))
        for _ in range(20):
            asked.set()
            await asyncio.sleep(0)
        await asyncio.wait_for(waiting, LIMIT)
        assert reader.reads == 2

    asyncio.run(scene())
