"""Control planes whose clocks are 30 s apart, in both directions."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest

from deskhand.tools.store.rows import planes
from tests.cluster.planes import plane
from tests.cluster.playing import LIMIT
from tests.tools.agents.chats.fakes import FakeMachines, Hold, ScriptedModel, act, report

pytestmark = pytest.mark.cluster

SPAWN = "spawn_computer_use_agent"
CLICK = act("left_click", coordinate=[1, 2])


@pytest.mark.parametrize("ahead", [30.0, -30.0])
def test_a_chat_is_driven_by_one_and_taken_over_by_the_other(
    database: str, tmp_path: Path, ahead: float
) -> None:
    hold, machines = Hold(report("Never")), FakeMachines()
    first = {"child": ScriptedModel([[CLICK], hold])}
    second = {"child": ScriptedModel([[report("Taken over.")], [report("And again.")]])}

    async def scenario() -> None:
        async with asyncio.timeout(LIMIT), AsyncExitStack() as stack:
            one, two = [
                await stack.enter_async_context(
                    plane(database, tmp_path, name, machines, models, ahead=seconds)
                )
                for name, models, seconds in (("one", first, ahead), ("two", second, 0.0))
            ]
            caller = await one.caller()
            chat_id = (await one.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
            # The clock of the database decides that neither of them is dead.
            for _ in range(3):
                assert await one.driver.beat() == await two.driver.beat() == ()
            await one.store.write(partial(planes.leave, plane="one"))
            assert await two.driver.beat() == (chat_id,)
            result = await two.tool("wait_agent", caller, chat_id=chat_id)
            assert result["report"] == "Taken over."
            actions = [body["action"] for body in machines.desktops["desktop-1"].posted("action")]
            assert actions == ["left_click"]
            view = await two.chats.get(chat_id)
            assert view.started_at is not None
            assert view.ended_at is not None
            assert view.ended_at >= view.started_at
            hold.released.set()

    asyncio.run(scenario())
