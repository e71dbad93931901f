import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection, unix_connect
from websockets.exceptions import InvalidStatus

from deskhand.desktop.agent_helper.agent_helper import AgentHelper
from deskhand.desktop.agent_helper.repositories import HelperRepositories
from deskhand.desktop.git.api import router
from deskhand.desktop.git.touched_paths import PathStore
from deskhand.desktop.git.watcher import Watcher, WatchIntervals
from deskhand.desktop.tool_calls.caller import CallingChat
from tests.desktop.agent_helper.threaded import Threaded
from tests.desktop.git.test_repositories import ENVIRONMENT, git
from tests.desktop.processes.service import LIMIT
from tests.tools.control_plane.fakes import serving, unix_socket

CHAT = str(uuid4())

Connect = Callable[[str], Any]


def play(folder: Path, scenario: Callable[[PathStore, Connect], Awaitable[None]]) -> None:
    async def scene() -> None:
        store = PathStore()
        app = FastAPI()
        helper = AgentHelper(Threaded(environment=ENVIRONMENT))
        pace = WatchIntervals(longest=1000.0, shortest=0.0)
        app.include_router(router(Watcher(store, HelperRepositories(helper), pace), most=1))
        path = folder / "s"

        def connect(chat: str) -> Any:
            return unix_connect(str(path), f"ws://host/api/v0/git/watch?chat_id={chat}")

        async with asyncio.timeout(LIMIT), helper, serving(app, unix_socket(path)):
            await scenario(store, connect)

    asyncio.run(scene())


async def received(socket: ClientConnection) -> Any:
    return json.loads(await socket.recv())


def test_changes_are_sent_at_first_and_on_request(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    git(tree, "init", "-q")

    async def scenario(store: PathStore, connect: Connect) -> None:
        store.note(CallingChat(CHAT), [os.fspath(tree)])
        async with connect(CHAT) as socket:
            first = await received(socket)
            assert first["repositories"][0]["unified_diff"] == ""
            (tree / "f").write_text("new\n")
            await socket.send('{"type": "refresh"}')
            assert "+new" in (await received(socket))["repositories"][0]["unified_diff"]

    play(tmp_path, scenario)


def test_other_messages_are_an_error_and_no_end(tmp_path: Path) -> None:
    async def scenario(store: PathStore, connect: Connect) -> None:
        async with connect(CHAT) as socket:
            for text in ("?", "[]", '{"type": "other"}', b"bytes"):
                await socket.send(text)
                assert await received(socket) == {
                    "type": "error",
                    "message": "unknown message type",
                }

    play(tmp_path, scenario)


def test_a_chat_must_be_named_and_listeners_are_counted(tmp_path: Path) -> None:
    async def scenario(store: PathStore, connect: Connect) -> None:
        with pytest.raises(InvalidStatus) as refused:
            await connect("x")
        assert refused.value.response.status_code == 400
        async with connect(CHAT):
            with pytest.raises(InvalidStatus) as full:
                await connect(CHAT)
            assert full.value.response.status_code == 429

    play(tmp_path, scenario)
