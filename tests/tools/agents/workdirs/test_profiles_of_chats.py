import asyncio
from pathlib import Path

import pytest

from deskhand.tools.conversation.chat_start import ChatStart
from deskhand.tools.conversation.errors import BadChatRequest
from tests.tools.agents.chats.fakes import Hold, ScriptedModel, open_chats, report

SPAWN = "spawn_computer_use_agent"


def test_one_chat_at_a_time_has_a_profile(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("One"))
        model = ScriptedModel([hold, [report("Two")]])
        async with open_chats(tmp_path, {"child": model}) as p:
            caller = await p.caller()
            first = (await p.tool(SPAWN, caller, prompt="Go", profile="work"))["chat_id"]
            await hold.reached.wait()
            taken = f"the profile work is in use by the desktop desktop-1 of the chat {first}"
            assert await p.error(SPAWN, caller, prompt="Go", profile="work") == taken
            with pytest.raises(BadChatRequest, match=taken):
                await p.chats.create(prompt=None, start=ChatStart(profile="work"))
            hold.released.set()
            await p.until(first, "waiting")
            # The desktop of a chat at rest ends for it, unless a person watches it.
            p.machines.watched.add("desktop-1")
            assert await p.error(SPAWN, caller, prompt="Go", profile="work") == taken
            p.machines.watched.clear()
            second = (await p.tool(SPAWN, caller, prompt="Go", profile="work"))["chat_id"]
            await p.until(second, "waiting")
            assert p.machines.released == ["desktop-1"]
            assert p.machines.profiles == {"work": "desktop-2"}

    asyncio.run(scenario())


def test_a_desktop_without_a_display_has_the_profile_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {}) as p:
            root = await p.chats.create(prompt=None, start=ChatStart(profile="work"))
            await p.tool("echo", root.id, a=1)
            assert p.machines.profiles == {"work": "desktop-1"}

    asyncio.run(scenario())


@pytest.mark.parametrize("name", ["../work", "Work", "a b"])
def test_a_wrong_name_is_refused(tmp_path: Path, name: str) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {}) as p:
            caller = await p.caller()
            error = await p.error(SPAWN, caller, prompt="Go", profile=name)
            assert error.startswith(f"profile: {name!r} must be of lower-case letters")

    asyncio.run(scenario())


def test_a_shared_desktop_has_the_profile_of_its_owner(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([])}) as p:
            caller = await p.caller()
            error = await p.error(SPAWN, caller, prompt="Go", profile="work", desktop="shared")
            assert error == "profile can be set only for a desktop of its own"

    asyncio.run(scenario())
