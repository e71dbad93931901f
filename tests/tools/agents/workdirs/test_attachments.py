import asyncio
from pathlib import Path

from tests.tools.agents.chats.fakes import ScriptedModel, call, open_chats, report


def test_an_agent_hands_a_file_to_its_parent(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel(
            [
                [call("attach_file", path="/home/user/a b.html")],
                [report("Here it is")],
            ]
        )
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            spawned = await p.tool("spawn_computer_use_agent", caller, prompt="Fetch it")
            result = await p.tool("wait_agent", caller, chat_id=spawned["chat_id"])
            (handed,) = result["files"]
            assert (handed["name"], handed["media_type"]) == ("a b.html", "text/html")
            assert handed["size"] == p.files.path(handed["file_id"]).stat().st_size
            for chat_id in (caller, spawned["chat_id"]):
                kinds = {f.id: f.kind for f in await p.chats.files(chat_id)}
                assert kinds[handed["file_id"]] == "attachment"

    asyncio.run(scenario())


def test_a_caller_by_http_keeps_a_file_with_its_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            caller = await p.caller()
            handed = await p.tool("attach_file", caller, path="/etc/hostname")
            assert [f.id for f in await p.chats.files(caller)] == [handed["file_id"]]
            handed = await p.tool("attach_file", caller, path="~/notes.txt")
            assert handed["name"] == "notes.txt"
            assert await p.error("attach_file", caller) == "path is required"

    asyncio.run(scenario())
