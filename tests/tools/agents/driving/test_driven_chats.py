"""Chats of one database on two control planes, of which each turn has one."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from deskhand.tools.kit.support.spec import MachineRefused
from tests.tools.agents.chats.fakes import LIMIT, FakeDesktop, Hold, ScriptedModel, act, report
from tests.tools.agents.driving.two_planes import SPAWN, Planes, dies, play, spawned, until

CLICK = act("left_click", coordinate=[1, 2])


def _clicks(desktop: FakeDesktop) -> int:
    return [body["action"] for body in desktop.posted("action")].count("left_click")


def test_a_stopped_one_changes_nothing_after_its_chat_was_taken_over(tmp_path: Path) -> None:
    async def scenario(planes: Planes) -> None:
        one, desktop, stopped = planes.one, FakeDesktop(), asyncio.Event()
        one.machines.desktops["desktop-1"] = desktop
        desktop.on_action = partial(until, stopped)
        caller, chat_id = await spawned(one)
        await desktop.acted.wait()
        desktop.on_action = None
        await dies(planes)
        two, driver = await planes.second(act("screenshot"), CLICK, report("Taken over"))
        result = await two.tool("wait_agent", caller, chat_id=chat_id)
        assert result["report"] == "Taken over"
        steps = [step.status for step in await two.chats.steps(chat_id)]
        assert steps == ["interrupted", "done", "done"]
        before = await two.chats.messages(chat_id)
        # The first one continues, with the result of a click that was reported as interrupted.
        stopped.set()
        await planes.driver.over(chat_id)
        assert await two.chats.messages(chat_id) == before
        assert [step.status for step in await two.chats.steps(chat_id)] == steps
        assert (await two.chats.get(chat_id)).turn == 1
        assert _clicks(desktop) == 2
        assert len(desktop.posted("recording/stop")) == 1
        assert driver.generation_of(chat_id) == 2
        # It takes no place here any more: with room for one desktop, the next chat gets one.
        other = (await one.tool(SPAWN, caller, prompt="Next"))["chat_id"]
        assert (await one.tool("wait_agent", caller, chat_id=other))["report"] == "Stale"
        assert one.machines.released == []

    play(tmp_path, ScriptedModel([[CLICK], [report("Stale")]]), scenario)


def test_a_desktop_that_a_stopped_one_gets_does_not_replace_that_of_the_chat(
    tmp_path: Path,
) -> None:
    async def scenario(planes: Planes) -> None:
        one, start = planes.one, Hold()
        one.machines.next_start = start.wait
        caller, chat_id = await spawned(one)
        await start.reached.wait()
        await dies(planes)
        two, _ = await planes.second(CLICK, report("Taken over"))
        assert (await two.tool("wait_agent", caller, chat_id=chat_id))["report"] == "Taken over"
        start.released.set()
        await planes.driver.over(chat_id)
        assert (await two.chats.get(chat_id)).desktop_id == "desktop-2"

    play(tmp_path, ScriptedModel([[CLICK], [report("Stale")]]), scenario)


def test_an_action_of_a_stopped_one_is_refused_by_the_desktop(tmp_path: Path) -> None:
    hold = Hold(CLICK)

    async def scenario(planes: Planes) -> None:
        one = planes.one
        caller, chat_id = await spawned(one)
        await hold.reached.wait()
        await dies(planes)
        two, _ = await planes.second(act("screenshot"), report("Taken over"))
        assert (await two.tool("wait_agent", caller, chat_id=chat_id))["report"] == "Taken over"
        machine = one.machines.machine("desktop-1", chat_id, (), 1)
        with pytest.raises(MachineRefused, match="Another control plane drives the chat") as error:
            await machine.request("POST", "/api/v0/desktop/action", json={"action": "left_click"})
        assert (error.value.status, error.value.code) == (409, "stale_driver")
        assert one.machines.refused == [1]
        # The reply of its model arrives: it is not stored, and its click is not sent.
        hold.released.set()
        await planes.driver.over(chat_id)
        assert _clicks(one.machines.desktops["desktop-1"]) == 0
        assert one.machines.refused == [1]

    play(tmp_path, ScriptedModel([[act("screenshot")], hold]), scenario)


def test_one_that_ends_hands_its_turns_over_between_two_steps(tmp_path: Path) -> None:
    async def scenario(planes: Planes) -> None:
        one, desktop, slow = planes.one, FakeDesktop(), asyncio.Event()
        one.machines.desktops["desktop-1"] = desktop
        desktop.on_action = partial(until, slow)
        caller, chat_id = await spawned(one)
        await desktop.acted.wait()
        closing = asyncio.create_task(planes.driver.close(LIMIT))
        await asyncio.sleep(0.1)
        assert not closing.done()
        slow.set()
        desktop.on_action = None
        await closing
        two, _ = await planes.second(CLICK, report("Went on"))
        result = await two.tool("wait_agent", caller, chat_id=chat_id)
        assert result["report"] == "Went on"
        assert [step.status for step in await two.chats.steps(chat_id)] == ["done", "done"]
        assert _clicks(desktop) == 2

    play(tmp_path, ScriptedModel([[CLICK], [report("Never")]]), scenario)


def test_messages_and_interruptions_at_another_one_reach_the_driver(tmp_path: Path) -> None:
    hold = Hold(report("Never"))

    async def scenario(planes: Planes) -> None:
        _, chat_id = await spawned(planes.one)
        await hold.reached.wait()
        two, other = await planes.second(report("Here"))
        # Without it, this one would be dead ten seconds after its start.
        await planes.driver.beat()
        assert await two.chats.send(chat_id, "Stop that", interrupt=True)
        assert (await two.chats.get(chat_id)).state == "interrupting"
        # Its next heartbeat finds the interruption; the message is the next turn, here too.
        await planes.driver.beat()
        await planes.one.until(chat_id, "waiting")
        assert (await two.chats.get(chat_id)).turn == 2
        # At rest it is driven by the one that gets the next message.
        await two.chats.send(chat_id, "And now?")
        await two.until(chat_id, "waiting")
        assert (await two.chats.get(chat_id)).turn == 3
        assert other.generation_of(chat_id) == 2

    replies = ScriptedModel([hold, [report("Stopped")]])
    play(tmp_path, replies, scenario)
