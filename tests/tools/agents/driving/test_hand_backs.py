"""Reports on people in control, of chats that one control plane takes over from another."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from deskhand.tools.conversation.conversation import Text, ToolResult
from deskhand.tools.kit.support.spec import ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.store.messages import history
from tests.tools.agents.chats.fakes import (
    FakeDesktop,
    FakeMachines,
    Hold,
    Json,
    OpenChats,
    ScriptedModel,
    act,
    after_a_kill,
    call,
    open_chats,
    report,
    result_text,
)
from tests.tools.agents.driving.two_planes import Planes, dies, play, spawned, until

ANN = {"name": "Ann", "seconds": 42.4, "keys": 3, "clicks": 1, "private": False}


def given_back(**changes: object) -> Json:
    return {"holder": {"kind": "nobody"}, "last": {**ANN, **changes}}


async def reports(chats: OpenChats, chat_id: str) -> list[str]:
    """Return the ids of the calls whose results report a person in control, in their order."""
    messages = await chats.store.read(lambda s: history(s, chat_id))
    results = [b for one in messages for b in one.content if isinstance(b, ToolResult)]
    return [one.call_id for one in results if "in control" in result_text(one)]


@pytest.mark.parametrize("cut", [False, True])
def test_a_session_is_reported_once_across_control_planes(tmp_path: Path, cut: bool) -> None:
    first, second, third = (act("screenshot") for _ in range(3))
    hold = Hold(report("Never"))

    async def scenario(planes: Planes) -> None:
        one, desktop, hangs = planes.one, FakeDesktop(), asyncio.Event()
        desktop.lease = given_back()
        one.machines.desktops["desktop-1"] = desktop
        if cut:
            # The report is taken, and its result is not written: the model never reads it.
            desktop.on_action = partial(until, hangs)
        caller, chat_id = await spawned(one)
        await (desktop.acted if cut else hold.reached).wait()
        desktop.on_action = None
        await dies(planes)
        two, _ = await planes.second(second, third, report("Taken over"))
        await two.tool("wait_agent", caller, chat_id=chat_id)
        hangs.set()
        hold.released.set()
        await planes.driver.over(chat_id)
        assert await reports(two, chat_id) == [(second if cut else first).id]

    play(tmp_path, ScriptedModel([[first], hold]), scenario)


def test_a_later_session_is_reported_by_the_one_that_has_taken_over(tmp_path: Path) -> None:
    first, second, third = (act("screenshot") for _ in range(3))
    hold = Hold(report("Never"))

    async def scenario(planes: Planes) -> None:
        one, desktop = planes.one, FakeDesktop()
        desktop.lease = given_back()
        one.machines.desktops["desktop-1"] = desktop
        caller, chat_id = await spawned(one)
        await hold.reached.wait()
        await dies(planes)
        desktop.lease = given_back(seconds=7.0)
        two, _ = await planes.second(second, third, report("Taken over"))
        await two.tool("wait_agent", caller, chat_id=chat_id)
        assert await reports(two, chat_id) == [first.id, second.id]

    play(tmp_path, ScriptedModel([[first], hold]), scenario)


def test_a_report_that_is_lost_with_an_interrupted_call_is_made_by_the_next(tmp_path: Path) -> None:
    first, second, third = (act("screenshot") for _ in range(3))

    async def scenario() -> None:
        desktop, hangs = FakeDesktop(), asyncio.Event()
        desktop.lease = given_back()
        desktop.on_action = partial(until, hangs)
        model = ScriptedModel([[first], [second], [third], [report("Done")]])
        machines = FakeMachines({"desktop-1": desktop})
        async with open_chats(tmp_path, {"child": model}, machines=machines) as one:
            _, chat_id = await spawned(one)
            await desktop.acted.wait()
            desktop.on_action = None
            await one.chats.send(chat_id, "Look again", interrupt=True)
            await one.until(chat_id, "waiting")
            assert await reports(one, chat_id) == [second.id]

    asyncio.run(scenario())


class AfterPerson:
    """Reports the session of a person, and can wait before its result."""

    spec = ToolSpec("after_person", "Wait.", {"type": "object"})

    def __init__(self) -> None:
        self.reported = asyncio.Event()
        self.released = asyncio.Event()

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        said = await context.after_person()
        self.reported.set()
        if arguments:
            await self.released.wait()
        return ToolOutcome({"said": said})


def test_the_end_of_another_call_does_not_store_a_report(tmp_path: Path) -> None:
    again, last = call("after_person"), call("after_person")

    async def scenario() -> None:
        tool, desktop = AfterPerson(), FakeDesktop()
        desktop.lease = given_back()
        desktop.before["echo"] = partial(until, tool.reported)
        machines = FakeMachines({"desktop-1": desktop})
        both = ScriptedModel([[call("after_person", waits=True), call("echo")]])
        async with open_chats(
            tmp_path, {"parent": both}, machines=machines, tools=(tool,)
        ) as killed:
            chat_id = (await killed.chats.create(prompt="Go")).id
            with killed.chats.events(chat_id) as news:
                while [one.status for one in await killed.chats.steps(chat_id)] != [
                    "running",
                    "done",
                ]:
                    await anext(news)
            successor = ScriptedModel([[again], [last], [Text("Done")]])
            async with after_a_kill(killed, {"parent": successor}, (tool,)) as p:
                await p.until(chat_id, "waiting")
                assert await reports(p, chat_id) == [again.id]
            tool.released.set()

    asyncio.run(scenario())
