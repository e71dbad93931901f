import asyncio
from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.conversation.chat_start import LARGEST_FILE, ChatStart, StartFile
from deskhand.tools.conversation.conversation import Text
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.kit.support.spec import MachineRefused
from deskhand.tools.store.files import FileFacts
from tests.tools.agents.chats.fakes import (
    FakeDesktop,
    FakeMachines,
    OpenChats,
    ScriptedModel,
    call,
    open_chats,
    report,
)

SPAWN = "spawn_computer_use_agent"
CONTEXT = "/api/v0/context-config"


def desktops() -> FakeMachines:
    answers = {CONTEXT: {"working_dir": "/srv/root", "parts": []}}
    return FakeMachines({f"desktop-{n}": FakeDesktop(answers=answers) for n in (1, 2)})


def paths(p: OpenChats) -> list[str]:
    return [path for _, path, _ in p.machines.desktops["desktop-1"].requests]


async def stored(p: OpenChats, chat_id: str, data: bytes = b"hello") -> str:
    facts = FileFacts(chat_id, "attachment", "list.csv", "text/csv", listed_with=chat_id)
    return (await p.files.save(data, facts)).id


def test_files_are_there_before_the_first_step(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[call("echo", a=1)], [report("Done")], [report("Again")]])
        async with open_chats(tmp_path, {"child": child}, machines=desktops()) as p:
            caller = await p.caller()
            given = [await stored(p, caller), {"path": "a/b.txt", "content": "x"}]
            spawned = await p.tool(SPAWN, caller, prompt="Go", files=given, workdir="sub")
            await p.until(spawned["chat_id"], "waiting")
            asked = paths(p)
            written = [n for n, path in enumerate(asked) if path.endswith("/write-file")]
            assert len(written) == 2
            assert asked.index("/api/v0/make-directory") < written[0]
            assert written[-1] < asked.index("/api/v0/echo")
            await p.chats.send(spawned["chat_id"], "More")
            await p.until(spawned["chat_id"], "waiting")
            assert sum(path.endswith("/write-file") for path in paths(p)) == 2

    asyncio.run(scenario())


def test_files_that_cannot_be_written_fail_the_turn(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = desktops()
        refusal = MachineRefused(403, "permission denied")
        machines.desktops["desktop-1"].refuses["write-file"] = refusal
        async with open_chats(tmp_path, {"child": ScriptedModel([])}, machines=machines) as p:
            caller = await p.caller()
            given = [{"path": "a", "content": "x"}]
            spawned = await p.tool(SPAWN, caller, prompt="Go", files=given)
            await p.until(spawned["chat_id"], "error")
            view = await p.chats.get(spawned["chat_id"])
            assert (view.last_error_kind, view.step_count) == ("desktop", 0)
            assert "could not be prepared: permission denied" in str(view.last_error)

    asyncio.run(scenario())


def test_a_file_of_another_chat_or_a_large_one_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([])}) as p:
            caller = await p.caller()
            other = (await p.chats.create(prompt=None, title="Other")).id
            theirs = await stored(p, other)
            large = await stored(p, caller, bytes(LARGEST_FILE + 1))
            refusals = {
                theirs: f"files: no stored file has the id {theirs}",
                "nothing": "files: no stored file has the id nothing",
                large: "files: list.csv is too large: 16,777,217 of at most 16,777,216 bytes",
            }
            for file_id, refusal in refusals.items():
                assert await p.error(SPAWN, caller, prompt="Go", files=[file_id]) == refusal
            outside = await p.error(SPAWN, caller, prompt="Go", workdir="../x")
            assert "must be a relative path, below the working directory" in outside
            assert (await p.chats.get(caller)).children == ()
            # A person may take a file of any chat.
            start = ChatStart(files=(StartFile("a.csv", file_id=theirs),))
            await p.chats.create(prompt=None, start=start)
            missing = ChatStart(files=(StartFile("a.csv", file_id="nothing"),))
            with pytest.raises(BadChatRequest, match="no stored file"):
                await p.chats.create(prompt=None, start=missing)

    asyncio.run(scenario())


def test_the_directory_of_a_child_lies_below_that_of_its_parent(tmp_path: Path) -> None:
    async def scenario() -> None:
        asked: list[dict[str, Any]] = []
        machines = desktops()
        async with open_chats(tmp_path, {}, machines=machines) as p:
            p.models.models["child"] = ScriptedModel(
                [[call("attach_file", path="a.txt")], [Text("Done")]]
            )
            parent = await p.chats.create(prompt=None, title="P", start=ChatStart(workdir="x"))
            spawned = await p.tool(SPAWN, parent.id, prompt="Go", workdir="y")
            await p.until(spawned["chat_id"], "waiting")
            asked = machines.desktops["desktop-1"].params
            assert {"parts": "false", "workdir": "x/y"} in asked
            files = await p.chats.files(parent.id)
            (file,) = (one for one in files if one.kind == "attachment")
            assert file.metadata["path"] == "/srv/root/a.txt"

    asyncio.run(scenario())


def test_a_program_finds_the_files_of_its_chat(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {}, machines=desktops()) as p:
            start = ChatStart(files=(StartFile("a", content="x"),))
            chat = await p.chats.create(prompt=None, title="P", start=start)
            await p.tool("echo", chat.id, a=1)
            assert [path.rpartition("/")[2] for path in paths(p)] == [
                *("context-config", "make-directory", "write-file", "echo")
            ]

    asyncio.run(scenario())
