import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from starlette.types import Message

from deskhand.desktop.agent_helper.json_lines import JsonLines
from deskhand.desktop.agent_helper.worker.change_pipe import change_pipe
from deskhand.desktop.files.api import router
from deskhand.desktop.files.errors import FileError, MissingFile, OutsideRoots
from deskhand.desktop.files.roots import Roots
from deskhand.desktop.files.watch_api import change_events, watch_response
from deskhand.desktop.files.watched_tree import WatchedTree
from deskhand.vncbridge.http.sse import EventStreams
from tests.desktop.agent_helper.threaded import unopened_files
from tests.desktop.processes.service import LIMIT

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]


class Listener:
    """Reads events until one fits."""

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        self.events = events

    async def next(self) -> Json:
        line = (await anext(self.events)).decode().partition("data: ")[2]
        change: Json = json.loads(line)
        return change

    async def until(self, kind: str, path: Path) -> Json:
        while True:
            line = (await anext(self.events)).decode().partition("data: ")[2]
            change: Json = json.loads(line) if line else {}
            if change.get("kind") == kind and change["path"] == str(path):
                return change


def play(tree: WatchedTree, scenario: Callable[[Listener], Awaitable[None]]) -> None:
    async def scene() -> None:
        changes = JsonLines(change_pipe(tree))
        events = change_events(changes)
        async with asyncio.timeout(LIMIT):
            with closing(changes):
                await scenario(Listener(events))
                await events.aclose()

    asyncio.run(scene())


def test_changes_are_told_in_new_folders_too(tmp_path: Path) -> None:
    async def scenario(listener: Listener) -> None:
        folder = tmp_path / "a"
        folder.mkdir()
        assert (await listener.until("created", folder))["is_dir"]
        (folder / "b").mkdir()
        (folder / "b" / "f").write_text("x")
        await listener.until("created", folder / "b")
        (folder / "f").write_text("x")
        await listener.until("modified", folder / "f")
        (folder / "f").rename(tmp_path / "g")
        assert (await listener.until("moved", tmp_path / "g"))["from"] == str(folder / "f")
        (tmp_path / "g").unlink()
        await listener.until("deleted", tmp_path / "g")
        (folder / "b" / "f").unlink()
        (folder / "b").rmdir()
        await listener.until("deleted", folder / "b")

    play(WatchedTree(tmp_path), scenario)


def test_a_folder_that_left_the_tree_is_not_watched(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    (inside / "a" / "b").mkdir(parents=True)
    outside.mkdir()

    async def scenario(listener: Listener) -> None:
        (inside / "a").rename(outside / "a")
        await listener.until("deleted", inside / "a")
        (outside / "a" / "f").write_text("x")
        (outside / "a" / "b" / "f").write_text("x")
        (inside / "last").touch()
        assert (await listener.next())["path"] == str(inside / "last")

    play(WatchedTree(inside), scenario)


def test_a_folder_renamed_within_the_tree_is_watched_under_its_new_name(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)

    async def scenario(listener: Listener) -> None:
        (tmp_path / "a").rename(tmp_path / "c")
        await listener.until("moved", tmp_path / "c")
        (tmp_path / "c" / "b" / "f").touch()
        await listener.until("created", tmp_path / "c" / "b" / "f")

    play(WatchedTree(tmp_path), scenario)


def test_what_was_created_before_its_folder_was_watched_is_reported(tmp_path: Path) -> None:
    with closing(WatchedTree(tmp_path)) as tree:
        (tmp_path / "a" / "b").mkdir(parents=True)
        (tmp_path / "a" / "f").write_text("x")
        (tmp_path / "a" / "b" / "g").write_text("x")
        first = tree.read()
        (tmp_path / "a" / "b" / "h").touch()
        created = [one for one in first + tree.read() if one.kind == "created"]
    names = ["a", "a/b", "a/b/g", "a/b/h", "a/f"]
    assert sorted(one.path for one in created) == [str(tmp_path / name) for name in names]
    assert [one.path for one in created if one.is_dir] == [
        str(tmp_path / "a"),
        str(tmp_path / "a" / "b"),
    ]


def test_a_file_is_watched_over_its_replacement(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one")

    async def scenario(listener: Listener) -> None:
        (tmp_path / "other").write_text("x")
        (tmp_path / "other").replace(file)
        await listener.until("created", file)

    play(WatchedTree(file), scenario)


def test_only_one_level_is_watched_if_asked_for(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()

    async def scenario(listener: Listener) -> None:
        (tmp_path / "sub" / "f").touch()
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "f").touch()
        (tmp_path / "last").touch()
        first = json.loads((await anext(listener.events)).decode().partition("data: ")[2])
        assert first["path"] == str(tmp_path / "new")
        await listener.until("created", tmp_path / "last")

    play(WatchedTree(tmp_path, recursive=False), scenario)


def test_what_cannot_be_watched_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingFile):
        WatchedTree(tmp_path / "absent")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "out").symlink_to(tmp_path)
    with pytest.raises(OutsideRoots):
        WatchedTree(tmp_path / "in" / "out", Roots.of((tmp_path / "in",)))
    with pytest.raises(FileError, match="more than 1 directories"):
        WatchedTree(tmp_path, most=1)


def test_a_folder_that_may_not_be_read_is_passed_over() -> None:
    """Run without root's rights, which could read it."""
    script = (
        "import os, sys; from pathlib import Path\n"
        "from deskhand.desktop.files.watched_tree import WatchedTree\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "WatchedTree(Path(sys.argv[1])).close()"
    )
    # Not below pytest's own folder, which each run of pytest closes to others.
    with tempfile.TemporaryDirectory(prefix="watched-") as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "closed").mkdir(mode=0)
        subprocess.run([sys.executable, "-c", script, folder], check=True, cwd=ROOT)


def test_there_are_only_so_many_watches_at_once(tmp_path: Path) -> None:
    app = FastAPI()
    app.include_router(router(lambda: tmp_path, unopened_files(), watches=EventStreams(limit=0)))

    async def refused() -> httpx2.Response:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://core") as client:
            return await client.get("/api/v0/watch", params={"path": str(tmp_path)})

    answer = asyncio.run(refused())
    assert answer.status_code == 429
    assert "At most 0" in answer.text


def test_a_watch_begins_with_ready_and_ends_with_the_service(tmp_path: Path) -> None:
    async def scene() -> list[bytes]:
        watches, sent = EventStreams(), list[bytes]()

        async def send(message: Message) -> None:
            sent.append(message.get("body", b""))
            watches.closing.set()

        async def never() -> Message:
            return await asyncio.Future()

        tree = WatchedTree(tmp_path)
        changes = JsonLines(change_pipe(tree))
        await watch_response(changes, watches)({"type": "http"}, never, send)
        assert await changes.next() is None
        return sent

    sent = asyncio.run(asyncio.wait_for(scene(), LIMIT))
    assert sent == [b"", b"event: ready\ndata: {}\n\n", b""]
