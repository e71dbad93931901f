"""The timeout of a chat, and a chat whose desktop is not recorded."""

import asyncio
from pathlib import Path

from deskhand.tools.conversation.chat_start import ChatStart
from deskhand.tools.conversation.conversation import Text
from tests.tools.agents.chats.fakes import Hold, ScriptedModel, act, open_chats, report

SPAWN = "spawn_computer_use_agent"


def test_a_turn_is_stopped_when_its_timeout_has_passed(tmp_path: Path) -> None:
    async def scenario() -> None:
        held = Hold(Text("Never said"))
        async with open_chats(tmp_path, {"parent": ScriptedModel([held, [Text("Again")]])}) as p:
            start = ChatStart(timeout_seconds=0.01)
            chat = await p.chats.create(prompt="Go", start=start)
            await p.until(chat.id, "error", "waiting")
            ended = await p.chats.get(chat.id)
            assert (ended.state, ended.last_error_kind) == ("error", "timeout")
            assert ended.last_error == "It was stopped because its timeout has passed."
            again = await p.chats.activities.run_again(chat.id, None, "owner")
            await p.until(again.id, "error", "waiting")
            assert (await p.chats.get(again.id)).turn == 1

    asyncio.run(scenario())


def test_a_desktop_is_not_recorded_where_the_order_says_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[act("screenshot")], [report("Done")]])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            chat = (await p.tool(SPAWN, caller, prompt="Go", record=False))["chat_id"]
            result = await p.tool("wait_agent", caller, chat_id=chat)
            assert (result["outcome"], result.get("recording_file_id")) == ("done", None)
            assert p.machines.desktops["desktop-1"].posted("recording/start") == []
            assert (await p.chats.get(chat)).recording_status == "none"

    asyncio.run(scenario())


def test_wrong_limits_are_one_clear_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([])}) as p:
            caller = await p.caller()
            error = await p.error(SPAWN, caller, prompt="Go", timeout_seconds=0)
            assert error == "timeout_seconds must be a number from 1 to 604800"
            error = await p.error(SPAWN, caller, prompt="Go", record="no")
            assert error == "record must be true or false"
            assert (await p.chats.get(caller)).children == ()

    asyncio.run(scenario())
