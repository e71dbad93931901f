import asyncio
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.network.egress import Egress
from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.agents.providers.errors import ModelRefused
from deskhand.tools.conversation.conversation import Text, ToolResult
from deskhand.tools.conversation.errors import (
    BadChatRequest,
    Conflict,
    IllegalMove,
    MessageQueueFull,
    NoDesktop,
    NoModel,
    UnknownTool,
)
from deskhand.tools.kit.support.spec import MachineUnavailable
from deskhand.tools.store.errors import UnknownRow
from tests.tools.agents.chats.fakes import (
    FakeDesktop,
    FakeMachines,
    Hold,
    ScriptedModel,
    StoppableTool,
    StuckTool,
    act,
    call,
    open_chats,
    report,
)

SPAWN = "spawn_computer_use_agent"


def test_a_chat_with_a_prompt_works_and_rests(tmp_path: Path) -> None:
    async def scenario() -> None:
        parent = ScriptedModel([[call("echo", say="hi")], [Text("Said hi.")]])
        async with open_chats(tmp_path, {"parent": parent}) as p:
            chat = await p.chats.create(prompt=" Say hi to the machine, please, now and here ")
            assert (chat.state, chat.model) == ("queued", "parent")
            assert chat.title == "Say hi to the machine, please,..."
            await p.until(chat.id, "waiting")
            done = await p.chats.get(chat.id)
            assert (done.report, done.outcome, done.outcome_source) == (
                "Said hi.",
                "done",
                "assumed",
            )
            assert (done.usage.input_tokens, done.usage.output_tokens) == (20, 10)
            assert done.recording_status == "none"
            (step,) = await p.chats.steps(chat.id)
            assert (step.tool, step.status, step.index) == ("echo", "done", 0)
            assert step.ended_at is not None
            assert step.ended_at > step.started_at
            assert p.machines.desktops["desktop-1"].posted("echo") == [{"say": "hi"}]
            assert p.machines.desktops["desktop-1"].headers == [step.tool_call_id]
            roles = [message.role for message in await p.chats.messages(chat.id)]
            assert roles == ["user", "assistant", "user", "assistant"]

    asyncio.run(scenario())


def test_a_parent_with_a_model_spawns_and_waits_by_itself(tmp_path: Path) -> None:
    async def scenario() -> None:
        spawn = call(SPAWN, prompt="Look around")

        async def wait(prompt: object) -> list[object]:
            (child_id,) = (await p.chats.get(chat.id)).children
            return [call("wait_agent", chat_id=child_id)]

        parent = ScriptedModel([[spawn], wait, [report("The child looked")]])  # type: ignore[list-item]
        child = ScriptedModel([[act("screenshot")], [report("Nothing there")]])
        async with open_chats(tmp_path, {"parent": parent, "child": child}) as p:
            chat = await p.chats.create(prompt="Go")
            await p.until(chat.id, "waiting")
            assert (await p.chats.get(chat.id)).report == "The child looked"
            assert "Nothing there" in str(parent.prompts[-1].messages[-1])
            assert [s.tool for s in await p.chats.steps(chat.id)] == [SPAWN, "wait_agent"]

    asyncio.run(scenario())


def test_a_computer_use_chat_of_its_own_keeps_its_recording(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel(
            [[act("left_click", coordinate=[10, 20])], [call("echo", a=1)], [report("Clicked")]]
        )
        machines = FakeMachines({"desktop-1": FakeDesktop(screen=b"jpeg")})
        async with open_chats(tmp_path, {"child": model}, machines=machines) as p:
            chat = await p.chats.create(prompt="Click", mode="computer_use")
            await p.until(chat.id, "waiting")
            view = await p.chats.get(chat.id)
            assert view.recording_status == "stored"
            kinds = [file.kind for file in await p.chats.files(chat.id)]
            assert kinds == ["recording", "thumbnail"]
            first, second = await p.chats.steps(chat.id)
            assert (first.tool, first.action) == ("computer", "left_click")
            assert first.timings["act_ms"] == 1.0
            assert {"queue_ms", "model_ms", "own_ms"} < first.timings.keys()
            assert first.usage is not None
            assert (first.usage["input_tokens"], first.usage["cost_usd"]) == (10, None)
            assert first.details["native_point"] == [15, 30]
            assert first.screenshot_file_id is not None
            assert (first.video_start, first.video_end) == (1.0, 2.0)
            assert (second.tool, second.video_start) == ("echo", 1.0)
            assert second.screenshot_file_id is not None
            shown = p.files.path(second.screenshot_file_id)
            assert shown.read_bytes() == b"jpeg"

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prompt": "  "}, "prompt is required"),
        ({"prompt": "Go", "mode": "magic"}, "unknown mode magic"),
    ],
)
def test_a_bad_request_makes_no_chat(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"parent": ScriptedModel([])}) as p:
            with pytest.raises(BadChatRequest, match=message):
                await p.chats.create(**arguments)
            with pytest.raises(NoModel, match="set a key"):
                await p.chats.create(prompt="Go", model="dear")
            with pytest.raises(UnknownRow):
                await p.chats.create(prompt="Go", parent_id="nobody")
            page = await p.chats.list(parent=None, state=None, limit=10, cursor=None)
            assert page.chats == ()

    asyncio.run(scenario())


def test_a_child_cannot_be_a_parent(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            root = await p.chats.create(prompt=None, title="Root")
            child = await p.chats.create(prompt=None, parent_id=root.id)
            assert child.root_id == root.id
            with pytest.raises(BadChatRequest, match="delegated chats"):
                await p.chats.create(prompt=None, parent_id=child.id)

    asyncio.run(scenario())


def test_a_token_has_one_default_chat_also_when_asked_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            asked = await asyncio.gather(*(p.chats.default_chat("curl") for _ in range(5)))
            assert len({chat.id for chat in asked}) == 1
            assert (await p.chats.default_chat("mcp")).id != asked[0].id
            assert asked[0].state == "waiting"

    asyncio.run(scenario())


def test_the_same_call_is_answered_again_and_not_run_twice(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([[report("Done")]])}) as p:
            caller = await p.caller()
            first = await p.tool(SPAWN, caller, "toolu_1", prompt="Go")
            again = await p.tool(SPAWN, caller, "toolu_1", prompt="Go")
            assert again == first
            assert len((await p.chats.get(caller)).children) == 1
            failed = await p.try_tool("broken", caller, "toolu_2")
            assert (await p.try_tool("broken", caller, "toolu_2")) == failed
            assert len(await p.chats.steps(caller)) == 2

    asyncio.run(scenario())


def test_a_call_that_comes_twice_at_the_same_moment_is_run_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([[report("Done")]])}) as p:
            caller = await p.caller()
            calls = [p.try_tool(SPAWN, caller, "toolu_1", prompt="Go") for _ in range(3)]
            outcomes = await asyncio.gather(*calls)
            assert sorted(str(o.error) for o in outcomes) == [
                "None",
                *["the call toolu_1 is still at work"] * 2,
            ]
            assert len((await p.chats.get(caller)).children) == 1

    asyncio.run(scenario())


def test_a_call_at_work_or_cut_off_is_not_started_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        stuck = StuckTool()
        async with open_chats(tmp_path, tools=(stuck,)) as p:
            caller = await p.caller()
            task = asyncio.create_task(p.try_tool("stuck", caller, "toolu_1"))
            await stuck.called.wait()
            assert "still at work" in str((await p.try_tool("stuck", caller, "toolu_1")).error)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert "interrupted" in str((await p.try_tool("stuck", caller, "toolu_1")).error)
            assert stuck.calls == 1
            assert [s.status for s in await p.chats.steps(caller)] == ["interrupted"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({"command": "make"}, '{"stopped": {"command": "make"}}'), ({}, "before it gave a result")],
)
def test_a_person_who_interrupts_stops_what_the_call_started(
    tmp_path: Path, arguments: dict[str, str], expected: str
) -> None:
    async def scenario() -> None:
        tool = StoppableTool()
        model = ScriptedModel([[call("stoppable", **arguments)], [Text("Stopped.")]])
        async with open_chats(tmp_path, {"parent": model}, tools=(tool,)) as p:
            chat = await p.chats.create(prompt="Build it")
            await tool.called.wait()
            await p.chats.interrupt(chat.id)
            await p.until(chat.id, "waiting")
            assert [s.status for s in await p.chats.steps(chat.id)] == ["interrupted"]
            await p.chats.send(chat.id, "What became of it?")
            await p.until(chat.id, "waiting")
            blocks = [block for message in model.prompts[-1].messages for block in message.content]
            (result,) = [block for block in blocks if isinstance(block, ToolResult)]
            assert expected in str(result)

    asyncio.run(scenario())


def test_the_end_of_the_program_leaves_a_call_going(tmp_path: Path) -> None:
    async def scenario() -> None:
        tool = StoppableTool()
        model = ScriptedModel([[call("stoppable", command="make")]])
        async with open_chats(tmp_path, {"parent": model}, tools=(tool,)) as p:
            chat = await p.chats.create(prompt="Build it")
            await tool.called.wait()
        async with open_chats(tmp_path, {"parent": ScriptedModel([[Text("Done.")]])}) as p:
            await p.until(chat.id, "waiting")
            (step,) = await p.chats.steps(chat.id)
            assert step.status == "interrupted"
            assert "stopped" not in str(step)

    asyncio.run(scenario())


def test_a_broken_tool_gives_an_error_and_not_an_exception(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            caller = await p.caller()
            assert await p.error("broken", caller) == "broken failed: a wheel came off"
            with pytest.raises(UnknownTool, match="Tool not found: magic; there are spawn"):
                await p.chats.call_tool("magic", {}, caller, "t")
            with pytest.raises(UnknownRow):
                await p.chats.call_tool("echo", {}, "nobody", "t")
            (step,) = await p.chats.steps(caller)
            assert (step.status, step.error) == ("failed", "broken failed: a wheel came off")

    asyncio.run(scenario())


def test_tools_are_offered_with_their_schemas(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            specs = {spec.name: spec for spec in p.chats.tool_specs()}
            assert {SPAWN, "wait_agent", "message_agent", "close_agent", "echo"} <= set(specs)
            assert specs[SPAWN].schema["required"] == ["prompt"]

    asyncio.run(scenario())


def test_chats_are_listed_in_pages_newest_first(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            ids = [(await p.chats.create(prompt=None, title=str(n))).id for n in range(5)]
            first = await p.chats.list(parent=None, state=None, limit=3, cursor=None)
            assert [chat.id for chat in first.chats] == ids[:1:-1]
            rest = await p.chats.list(parent=None, state=None, limit=3, cursor=first.next_cursor)
            assert [chat.id for chat in rest.chats] == ids[1::-1]
            assert rest.next_cursor is None
            await p.chats.archive(ids[0])
            left = await p.chats.list(parent="", state="waiting", limit=10, cursor=None)
            assert len(left.chats) == 4
            away = await p.chats.list(parent=None, state="archived", limit=10, cursor=None)
            assert [chat.id for chat in away.chats] == ids[:1]
            with pytest.raises(UnknownRow):
                await p.chats.list(parent=None, state=None, limit=3, cursor="nowhere")

    asyncio.run(scenario())


def test_messages_wait_in_a_queue_that_has_an_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(Text("One"))
        model = ScriptedModel([hold, [Text("Two")], [Text("Three")]])
        settings = ChatSettings(queue_limit=2)
        async with open_chats(tmp_path, {"parent": model}, settings=settings) as p:
            chat = await p.chats.create(prompt="1")
            await hold.reached.wait()
            assert await p.chats.send(chat.id, "2") is False
            await p.chats.send(chat.id, "3")
            with pytest.raises(MessageQueueFull, match="chat message queue is full"):
                await p.chats.send(chat.id, "4")
            with pytest.raises(BadChatRequest, match="message is required"):
                await p.chats.send(chat.id, " ")
            hold.released.set()
            await p.until(chat.id, "waiting")
            view = await p.chats.get(chat.id)
            assert (view.report, view.turn, view.queue_length) == ("Three", 3, 0)

    asyncio.run(scenario())


def test_a_chat_in_error_takes_a_message_and_forgets_the_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([ModelRefused(400, "no"), [Text("Better now")]])
        async with open_chats(tmp_path, {"parent": model}) as p:
            chat = await p.chats.create(prompt="Go")
            await p.until(chat.id, "error")
            failed = await p.chats.get(chat.id)
            assert failed.last_error_kind == "model_refused"
            await p.chats.send(chat.id, "Again")
            await p.until(chat.id, "waiting")
            better = await p.chats.get(chat.id)
            assert (better.last_error, better.report) == (None, "Better now")

    asyncio.run(scenario())


def test_an_unexpected_failure_ends_the_turn_and_not_the_program(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        model = ScriptedModel([RuntimeError("a wheel came off")])
        async with open_chats(tmp_path, {"parent": model}) as p:
            chat = await p.chats.create(prompt="Go")
            await p.until(chat.id, "error")
            view = await p.chats.get(chat.id)
            assert view.last_error == "RuntimeError: a wheel came off"
            assert (view.last_error_kind, view.outcome) == ("generic", "failed")

    asyncio.run(scenario())


def test_a_chat_without_a_model_is_refused_with_advice(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            caller = await p.caller()
            await p.chats.send(caller, "Hello?")
            await p.until(caller, "error")
            assert "set a key" in str((await p.chats.get(caller)).last_error)

    asyncio.run(scenario())


def test_an_archived_chat_takes_nothing_and_its_desktop_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Never"))
        models = {"child": ScriptedModel([[act("screenshot")], hold])}
        async with open_chats(tmp_path, models) as p:
            caller = await p.caller()
            child_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
            with pytest.raises(IllegalMove, match="cannot archive a chat that is running"):
                await p.chats.archive(child_id)
            await p.chats.archive(caller)
            child = await p.chats.get(child_id)
            assert (child.archived, child.state) == (True, "waiting")
            assert p.machines.released == ["desktop-1"]
            with pytest.raises(Conflict, match="archived"):
                await p.chats.send(caller, "Hello?")
            assert "archived chats" in await p.error(SPAWN, caller, prompt="Go")

    asyncio.run(scenario())


def test_chats_that_were_put_away_go_after_some_days(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {}) as p:
            kept = await p.caller()
            away = (await p.chats.create(prompt=None, title="Away")).id
            await p.chats.archive(away)
            assert await p.chats.remove_archived() == ()
            assert await p.chats.remove_archived(days=-1000) == (away,)
            with pytest.raises(UnknownRow):
                await p.chats.get(away)
            assert (await p.chats.get(kept)).id == kept

    asyncio.run(scenario())


def test_deleting_a_chat_leaves_nothing_of_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Never"))
        child = ScriptedModel([[act("screenshot")], [report("Done")], hold])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            child_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await p.tool("wait_agent", caller, chat_id=child_id)
            await p.chats.send(child_id, "More")
            await hold.reached.wait()
            assert [path for path in (tmp_path / "files").rglob("*") if path.is_file()]
            with p.chats.events(None) as news:
                await p.chats.delete(caller)
                assert p.machines.forgotten == [caller]
                kinds = [(await anext(news)).kind for _ in range(20) if news.waiting]
            assert kinds.count("deleted") == 2
            assert not [path for path in (tmp_path / "files").rglob("*") if path.is_file()]
            for chat_id in (caller, child_id):
                with pytest.raises(UnknownRow):
                    await p.chats.get(chat_id)
            assert p.machines.released == ["desktop-1"]

    asyncio.run(scenario())


def test_interrupting_a_chat_at_rest_changes_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            caller = await p.caller()
            assert await p.chats.interrupt(caller) is False
            assert (await p.chats.get(caller)).state == "waiting"

    asyncio.run(scenario())


def test_a_chat_that_waits_for_a_desktop_can_be_interrupted(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = FakeMachines()
        starting = asyncio.Event()

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
        async with open_chats(tmp_path, {"child": ScriptedModel([])}, machines=machines) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await starting.wait()
            assert await p.chats.interrupt(chat.id) is True
            await p.until(chat.id, "waiting")
            assert (await p.chats.get(chat.id)).report == ""

    asyncio.run(scenario())


def test_a_message_to_a_chat_that_waits_for_its_desktop_follows_its_turn(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = FakeMachines()
        starting, there = asyncio.Event(), asyncio.Event()
        acquire = machines.acquire

        async def slowly(
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
            await there.wait()
            return await acquire(chat_id, name=name, root_id=root_id, egress=egress)

        machines.acquire = slowly  # type: ignore[method-assign]
        model = ScriptedModel([[Text("One")], [Text("Two")]])
        async with open_chats(tmp_path, {"child": model}, machines=machines) as p:
            chat = await p.chats.create(prompt="1", mode="computer_use")
            await starting.wait()
            await p.chats.send(chat.id, "2")
            there.set()
            await p.until(chat.id, "waiting")
            view = await p.chats.get(chat.id)
            assert (view.report, view.turn) == ("Two", 2)
            assert model.script == []

    asyncio.run(scenario())


def test_every_change_is_published_in_order_with_rising_versions(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[call("echo", say="hi")], [Text("Said hi.")]])
        async with open_chats(tmp_path, {"parent": model}) as p:
            with p.chats.events(None) as news:
                chat = await p.chats.create(prompt="Go")
                await p.until(chat.id, "waiting")
                seen = [await anext(news) for _ in range(news.waiting)]
            ids = [event.id for event in seen]
            assert ids == sorted(ids)
            kinds = [event.kind for event in seen]
            assert kinds[0] == "created"
            assert kinds.count("step") == 2
            assert "text" in kinds
            states = [event.data["state"] for event in seen if event.kind == "status"]
            # Twice running: the second reports the desktop of its first command.
            assert states == ["running", "running", "waiting"]
            versions = [event.data["version"] for event in seen if "version" in event.data]
            assert versions == sorted(versions)

    asyncio.run(scenario())


def test_a_machine_that_does_not_answer_is_a_tool_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = FakeMachines(
            {"desktop-1": FakeDesktop(refuses={"echo": MachineUnavailable("the socket is gone")})}
        )
        async with open_chats(tmp_path, machines=machines) as p:
            assert await p.error("echo", await p.caller()) == "the socket is gone"

    asyncio.run(scenario())


def test_a_desktop_that_is_vacated_leaves_its_recording(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Never"))
        model = ScriptedModel([[act("left_click", coordinate=[1, 2])], hold])
        async with open_chats(tmp_path, {"child": model}) as p:
            chat = await p.chats.create(prompt="Click", mode="computer_use")
            await hold.reached.wait()
            await p.chats.release_desktop("desktop-1")
            view = await p.chats.get(chat.id)
            assert (view.state, view.recording_status) == ("waiting", "stored")
            assert p.machines.released == ["desktop-1"]
            await p.chats.release_desktop("desktop-1")

    asyncio.run(scenario())


def test_an_agent_whose_resting_desktop_was_ended_reads_what_is_gone(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[act("screenshot")], [report("One")], [report("Two")]])
        settings = ChatSettings(desktop_rest_seconds=0.0)
        async with open_chats(tmp_path, {"child": model}, settings=settings) as p:
            chat = await p.chats.create(prompt="Click", mode="computer_use")
            await p.until(chat.id, "waiting")
            await p.chats.assignment.release_idle()
            await p.chats.send(chat.id, "Once more")
            await p.until(chat.id, "waiting")
            text = str(model.prompts[-1].messages)
            assert "You work on a new desktop now: the earlier one was ended" in text
            assert "the files in its home and work directories are gone" in text
            assert "attached files are kept" in text

    asyncio.run(scenario())


def test_an_agent_that_never_had_a_desktop_reads_of_none(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[report("Done")]])
        async with open_chats(tmp_path, {"child": model}) as p:
            p.machines.failure = NoDesktop("no display")
            chat = await p.chats.create(prompt="Click", mode="computer_use")
            await p.until(chat.id, "error")
            p.machines.failure = None
            await p.chats.send(chat.id, "Once more")
            await p.until(chat.id, "waiting")
            assert "new desktop" not in str(model.prompts[-1].messages)

    asyncio.run(scenario())
