"""What an agent could change on its desktop is compared with what the control plane has."""

import asyncio
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.chat_recordings.turn_recording import STEP_MISSING
from tests.tools.agents.chats.fakes import (
    FakeDesktop,
    FakeMachines,
    ScriptedModel,
    act,
    call,
    open_chats,
    report,
)
from tests.tools.agents.chats.test_secrets import LeakyTool, secret_store


def test_steps_that_were_changed_after_their_turn_are_reported(tmp_path: Path) -> None:
    async def change(session: AsyncSession) -> None:
        await session.execute(text("UPDATE steps SET title = 'another' WHERE turn = 2"))

    async def scenario() -> None:
        model = ScriptedModel(
            [
                [act("type", text="a")],
                [report("Done")],
                [act("type", text="a")],
                [report("Done")],
            ]
        )
        async with open_chats(tmp_path, {"child": model}) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await p.until(chat.id, "waiting")
            await p.chats.send(chat.id, "Again")
            await p.until(chat.id, "waiting")
            assert await p.chats.changed_turns(chat.id) == []
            await p.store.write(change)
            assert await p.chats.changed_turns(chat.id) == [2]

    asyncio.run(scenario())


def test_a_recording_that_lacks_the_last_step_is_reported(tmp_path: Path) -> None:
    async def scenario() -> None:
        desktop = FakeDesktop(loses_steps=True)
        model = ScriptedModel([[call("leak", command="ls")], [report("Done")]])
        machines = FakeMachines({"desktop-1": desktop})
        tools = (LeakyTool(),)
        async with open_chats(tmp_path, {"child": model}, machines=machines, tools=tools) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await p.until(chat.id, "waiting")
            assert (await p.chats.get(chat.id)).recording_warning == STEP_MISSING

    asyncio.run(scenario())


def test_a_desktop_gets_no_byte_of_another_chats_secret(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[call("leak", command='echo correct "horse"')], [report("Done")]])
        store = secret_store("another chat")
        async with open_chats(
            tmp_path, {"child": model}, tools=(LeakyTool(),), secret_store=store
        ) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await p.until(chat.id, "waiting")
            (desktop,) = p.machines.desktops.values()
            assert desktop.posted("/steps")
            assert "horse" not in str(desktop.requests)
            # The chat's own result is not masked: a mask would reveal the value to it.
            assert "horse" in str(model.prompts[-1])

    asyncio.run(scenario())
