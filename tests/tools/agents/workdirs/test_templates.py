import asyncio
from pathlib import Path

import pytest

from deskhand.tools.agents.workdirs.rows import uses_of_templates
from deskhand.tools.conversation.chat_start import ChatStart
from deskhand.tools.conversation.errors import BadChatRequest
from tests.tools.agents.chats.fakes import ScriptedModel, open_chats, report

SPAWN = "spawn_computer_use_agent"


def test_a_desktop_is_started_with_the_template_of_its_chat(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([[report("Done")]])}) as p:
            caller = await p.caller()
            spawned = await p.tool(SPAWN, caller, prompt="Go", template="office")
            await p.until(spawned["chat_id"], "waiting")
            assert p.machines.templates == ["office"]
            root = await p.chats.create(prompt=None, start=ChatStart(template="office"))
            await p.tool("echo", root.id, a=1)
            assert p.machines.templates == ["office", "office"]
            assert await p.store.read(uses_of_templates) == {"office": 2}

    asyncio.run(scenario())


def test_a_wrong_template_is_refused_before_the_chat_begins(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([])}) as p:
            caller = await p.caller()
            error = await p.error(SPAWN, caller, prompt="Go", template="nothing")
            assert error == "no template has the name 'nothing'"
            shared = await p.error(SPAWN, caller, prompt="Go", template="office", desktop="shared")
            assert shared == "template can be set only for a desktop of its own"
            with pytest.raises(BadChatRequest, match="no template"):
                await p.chats.create(prompt=None, start=ChatStart(template="nothing"))
            assert (await p.chats.get(caller)).children == ()
            assert "profile" in await p.error(SPAWN, caller, prompt="Go", profile="../ada")

    asyncio.run(scenario())
