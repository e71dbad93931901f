"""Two control planes on one database for tests, of which the second takes chats over."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.agents.driving.driver import Driver
from deskhand.tools.conversation.conversation import ToolCall
from deskhand.tools.store.database import Store
from tests.tools.agents.chats.fakes import (
    LIMIT,
    OpenChats,
    ScriptedModel,
    after_a_kill,
    open_chats,
)

SPAWN = "spawn_computer_use_agent"
SETTINGS = ChatSettings("http://plane", desktops=1, action_seconds=0.0)


@dataclass
class Planes:
    """Two control planes; the second one opens with `second`."""

    stack: AsyncExitStack
    one: OpenChats
    driver: Driver

    async def second(self, *replies: ToolCall) -> tuple[OpenChats, Driver]:
        driver = Driver(self.one.store, "two", "two:1")
        await driver.open()
        model = ScriptedModel([[reply] for reply in replies])
        chats = after_a_kill(self.one, {"child": model}, drive=driver.drive)
        return await self.stack.enter_async_context(chats), driver


def play(
    folder: Path, model: ScriptedModel, scenario: Callable[[Planes], Awaitable[None]]
) -> OpenChats:
    async def main() -> OpenChats:
        drivers: list[Driver] = []

        def drive(store: Store) -> Driver:
            drivers.append(Driver(store, "one", "one:1"))
            return drivers[0]

        async with asyncio.timeout(LIMIT), AsyncExitStack() as stack:
            one = await stack.enter_async_context(
                open_chats(folder, {"child": model}, drive=drive, settings=SETTINGS)
            )
            await scenario(Planes(stack, one, drivers[0]))
        return one

    return asyncio.run(main())


async def dies(planes: Planes) -> None:
    """Let the heartbeat of the first one be too old."""
    old = text("UPDATE planes SET beat_at = beat_at - 11 WHERE id = 'one'")
    await planes.one.store.write(lambda s: s.execute(old))


async def until(event: asyncio.Event) -> None:
    await event.wait()


async def spawned(one: OpenChats) -> tuple[str, str]:
    caller = await one.caller()
    return caller, (await one.tool(SPAWN, caller, prompt="Click"))["chat_id"]
