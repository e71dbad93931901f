"""The newest step of a chat at work, in its view."""

import asyncio
from pathlib import Path

from deskhand.tools.conversation.conversation import Text
from tests.tools.agents.chats.fakes import Hold, ScriptedModel, act, open_chats


def test_the_view_of_a_chat_at_work_names_its_newest_step(tmp_path: Path) -> None:
    async def scenario() -> None:
        held = Hold(Text("Done"))
        child = ScriptedModel([[act("screenshot"), act("left_click", coordinate=[3, 4])], held])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            spawn = "spawn_computer_use_agent"
            chat = (await p.tool(spawn, caller, prompt="Go"))["chat_id"]
            await held.reached.wait()
            newest = (await p.chats.get(chat)).last_step
            assert newest is not None
            assert newest["arguments"]["coordinate"] == [3, 4]
            held.released.set()
            await p.until(chat, "waiting")
            assert (await p.chats.get(chat)).last_step is None

    asyncio.run(scenario())
