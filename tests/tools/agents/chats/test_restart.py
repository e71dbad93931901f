"""What becomes of chats when the program that holds them ends and starts again."""

import asyncio
from pathlib import Path

import pytest

from deskhand.desktop.network.egress import Egress
from deskhand.tools.conversation.conversation import Text, ToolCall
from tests.tools.agents.chats.fakes import (
    FakeDesktop,
    FakeMachines,
    Hold,
    ScriptedModel,
    StuckTool,
    act,
    after_a_kill,
    call,
    open_chats,
    report,
)

SPAWN = "spawn_computer_use_agent"


def test_a_child_goes_on_after_a_kill_and_its_open_call_is_not_run_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        desktop = FakeDesktop()
        never = asyncio.Event()
        machines = FakeMachines({"desktop-1": desktop})
        child = ScriptedModel(
            [[act("screenshot")], [act("left_click", coordinate=[1, 2])], [report("Never")]]
        )
        async with open_chats(tmp_path, {"child": child}, machines=machines) as killed:
            caller = await killed.caller()
            chat_id = (await killed.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await desktop.acted.wait()
            desktop.acted.clear()
            desktop.on_action = lambda: _wait(never)
            await desktop.acted.wait()
            desktop.on_action = None
            successor = ScriptedModel([[act("screenshot")], [report("Went on")]])
            async with after_a_kill(killed, {"child": successor}) as p:
                result = await p.tool("wait_agent", caller, chat_id=chat_id)
                assert (result["report"], result["status"]) == ("Went on", "waiting")
                statuses = [step.status for step in await p.chats.steps(chat_id)]
                assert statuses == ["done", "interrupted", "done"]
                actions = [body["action"] for body in desktop.posted("action")]
                assert actions == ["screenshot", "left_click", "screenshot"]
                assert machines.acquired == [chat_id]
                assert result["recording_status"] == "stored"
                assert len(desktop.posted("recording/stop")) == 1
                last = successor.prompts[0].messages[-1]
                assert "nterrupted before it gave" in str(last)
                assert (await p.chats.get(chat_id)).turn == 1

    asyncio.run(scenario())


def test_a_result_that_was_written_down_is_not_lost_by_a_kill(tmp_path: Path) -> None:
    async def scenario() -> None:
        stuck = StuckTool()
        two = [call("echo", say="written down"), call("stuck")]
        async with open_chats(
            tmp_path, {"parent": ScriptedModel([list(two)])}, tools=(stuck,)
        ) as old:
            chat = await old.chats.create(prompt="Go")
            await stuck.called.wait()
            # Both calls run at once: the first must be written down before the end.
            async with asyncio.timeout(20):
                while (await old.chats.steps(chat.id))[0].status != "done":
                    pass
            successor = ScriptedModel([[Text("Seen")]])
            async with after_a_kill(old, {"parent": successor}, (stuck,)) as p:
                await p.until(chat.id, "waiting")
                answers = successor.prompts[0].messages[-1]
                assert "written down" in str(answers.content[0])
                assert "nterrupted" in str(answers.content[1])
                assert stuck.calls == 1

    asyncio.run(scenario())


@pytest.mark.parametrize("last", [report("Done"), Text("Done")], ids=["report", "text"])
def test_a_turn_that_a_kill_cut_off_after_its_last_message_is_not_asked_again(
    tmp_path: Path, last: Text | ToolCall
) -> None:
    async def scenario() -> None:
        desktop = FakeDesktop()
        machines = FakeMachines({"desktop-1": desktop})
        stopping = asyncio.Event()
        desktop.before["recording/stop"] = lambda: _hang(stopping)
        child = ScriptedModel([[act("screenshot")], [last]])
        async with open_chats(
            tmp_path, {"child": child}, machines=machines, closing=0.01
        ) as killed:
            caller = await killed.caller()
            chat_id = (await killed.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await stopping.wait()
            desktop.before.clear()
            messages = await killed.chats.messages(chat_id)
            successor = ScriptedModel([[Text("Again")]])
            async with after_a_kill(killed, {"child": successor}) as p:
                result = await p.tool("wait_agent", caller, chat_id=chat_id)
                assert (result["report"], result["outcome"]) == ("Done", "done")
                assert result["recording_status"] == "stored"
                assert successor.prompts == []
                assert await p.chats.messages(chat_id) == messages

    asyncio.run(scenario())


def test_a_child_whose_desktop_was_lost_goes_on_with_a_new_one(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Never"))
        child = ScriptedModel([[act("screenshot")], hold])
        async with open_chats(tmp_path, {"child": child}) as killed:
            caller = await killed.caller()
            chat_id = (await killed.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
            killed.machines.desktops.clear()
            successor = ScriptedModel([[report("A new desktop")]])
            async with after_a_kill(killed, {"child": successor}) as p:
                result = await p.tool("wait_agent", caller, chat_id=chat_id)
                assert result["report"] == "A new desktop"
                assert result["end_reason"] == "service_lost"
                assert result["recording_status"] == "none"
                assert "new desktop" in str(successor.prompts[0].messages[-1])
                assert "directories are gone" in str(successor.prompts[0].messages[-1])

    asyncio.run(scenario())


def test_a_chat_that_waited_for_its_turn_starts_after_a_kill(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = FakeMachines()
        starting = asyncio.Event()
        acquire = machines.acquire

        async def never(
            chat_id: str,
            *,
            name: str,
            root_id: str,
            egress: Egress,
            display: bool = True,
            template: str | None = None,
            profile: str | None = None,
        ) -> str:
            starting.set()
            await asyncio.Event().wait()
            return ""

        machines.acquire = never  # type: ignore[method-assign]
        async with open_chats(tmp_path, {"child": ScriptedModel([])}, machines=machines) as killed:
            chat = await killed.chats.create(prompt="Go", mode="computer_use")
            await starting.wait()
            machines.acquire = acquire  # type: ignore[method-assign]
            async with after_a_kill(killed, {"child": ScriptedModel([[report("Done")]])}) as p:
                await p.until(chat.id, "waiting")
                assert (await p.chats.get(chat.id)).report == "Done"

    asyncio.run(scenario())


def test_an_interruption_that_a_kill_cut_off_is_finished(tmp_path: Path) -> None:
    async def scenario() -> None:
        desktop = FakeDesktop()
        hold = Hold(report("Never"))
        machines = FakeMachines({"desktop-1": desktop})
        child = ScriptedModel([[act("screenshot")], hold])
        async with open_chats(
            tmp_path, {"child": child}, machines=machines, closing=0.01
        ) as killed:
            caller = await killed.caller()
            chat_id = (await killed.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
            stopping = asyncio.Event()
            desktop.before["recording/stop"] = lambda: _hang(stopping)
            await killed.chats.interrupt(chat_id)
            await stopping.wait()
            assert (await killed.chats.get(chat_id)).state == "interrupting"
            desktop.before.clear()
            async with after_a_kill(killed, {}) as p:
                await p.until(chat_id, "waiting")

    asyncio.run(scenario())


def test_a_call_of_another_program_that_a_kill_cut_off_is_marked(tmp_path: Path) -> None:
    async def scenario() -> None:
        stuck = StuckTool()
        async with open_chats(tmp_path, tools=(stuck,)) as killed:
            caller = await killed.caller()
            task = asyncio.create_task(killed.try_tool("stuck", caller, "toolu_1"))
            await stuck.called.wait()
            async with after_a_kill(killed, {}, (stuck,)) as p:
                assert [s.status for s in await p.chats.steps(caller)] == ["interrupted"]
                again = await p.try_tool("stuck", caller, "toolu_1")
                assert again.is_error
                assert stuck.calls == 1
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())


def test_a_clean_end_keeps_the_recording_and_the_next_start_goes_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = FakeMachines()
        hold = Hold(report("Never"))
        child = ScriptedModel([[act("screenshot")], hold])
        async with open_chats(tmp_path, {"child": child}, machines=machines) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
        successor = ScriptedModel([[act("screenshot")], [report("Went on")]])
        async with open_chats(tmp_path, {"child": successor}, machines=machines) as p:
            result = await p.tool("wait_agent", caller, chat_id=chat_id)
            assert result["report"] == "Went on"
            assert len(result["recording_file_ids"]) == 2
            assert machines.acquired == [chat_id]

    asyncio.run(scenario())


def test_desktops_that_stay_go_on_recording(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = FakeMachines()
        hold = Hold(report("Never"))
        child = ScriptedModel([[act("screenshot")], hold])
        async with open_chats(
            tmp_path, {"child": child}, machines=machines, keep_recordings=True
        ) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
        desktop = machines.desktops["desktop-1"]
        assert desktop.recording == chat_id
        async with open_chats(
            tmp_path, {"child": ScriptedModel([[report("Done")]])}, machines=machines
        ) as p:
            result = await p.tool("wait_agent", caller, chat_id=chat_id)
            assert result["recording_status"] == "stored"
            assert len(result["recording_file_ids"]) == 1

    asyncio.run(scenario())


def test_a_recording_that_cannot_be_stored_in_time_does_not_hold_up_the_end(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        desktop = FakeDesktop()
        machines = FakeMachines({"desktop-1": desktop})
        stopping = asyncio.Event()
        desktop.before["recording/stop"] = lambda: _hang(stopping)
        child = ScriptedModel([[act("screenshot")], [report("Done")]])
        async with open_chats(tmp_path, {"child": child}, machines=machines, closing=0.01) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await stopping.wait()
        desktop.before.clear()
        async with open_chats(tmp_path, machines=machines) as p:
            result = await p.tool("wait_agent", caller, chat_id=chat_id)
            assert result["report"] == "Done"
            assert "longer" in result["recording_warning"]

    asyncio.run(scenario())


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def _hang(begun: asyncio.Event) -> None:
    begun.set()
    await asyncio.Event().wait()
