import asyncio
import uuid
from pathlib import Path

import pytest

from deskhand.desktop.network.egress import Egress, EgressPolicy
from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.agents.providers.errors import ModelUnavailable
from deskhand.tools.conversation.conversation import Text
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.kit.support.spec import MachineRefused
from deskhand.tools.kit.write_file import WriteFileTool
from tests.tools.agents.chats.fakes import (
    FakeDesktop,
    FakeMachines,
    Hold,
    ScriptedModel,
    act,
    call,
    open_chats,
    report,
)

SPAWN = "spawn_computer_use_agent"
WAIT = "wait_agent"
LISTED = Egress("list", ("*.example.org",))
STRICT = EgressPolicy(LISTED)


def test_spawn_then_wait_gives_the_report_and_the_recording(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[act("left_click", coordinate=[10, 20])], [report("All five hit")]])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            spawned = await p.tool(SPAWN, caller, prompt="Click five targets")
            assert spawned["status"] == "queued"
            assert spawned["title"] == "Click five targets"
            assert spawned["type"] == "computer_use"
            assert spawned["run_url"] == f"http://plane/runs/{spawned['chat_id']}"
            result = await p.tool(WAIT, caller, chat_id=spawned["chat_id"])
            assert result["status"] == "waiting"
            assert (result["report"], result["outcome"]) == ("All five hit", "done")
            assert result["outcome_source"] == "report"
            assert (result["recording_status"], result["end_reason"]) == ("stored", "completed")
            assert result["complete"] is True
            assert result["steps"] == 1
            assert result["usage"]["output_tokens"] == 10
            assert result["duration_ms"] > 0
            assert result["live_url"] == "http://plane/desktops/desktop-1"
            video = await p.files.get(result["recording_file_id"])
            assert (video.kind, video.media_type) == ("recording", "video/mp4")
            assert p.files.path(video.id).read_bytes().startswith(b"mp4 of")
            assert result["recording_file_ids"] == [video.id]
            assert [part["file_id"] for part in result["parts"]] == [video.id]
            assert (await p.files.get(result["thumbnail_file_id"])).kind == "thumbnail"
            assert video.id in [file.id for file in await p.chats.files(caller)]

    asyncio.run(scenario())


def test_the_model_of_a_child_works_with_the_effort_that_was_asked_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[report("Done")], [report("Done")]])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            for effort in ("high", None):
                given = {} if effort is None else {"effort": effort}
                spawned = await p.tool(SPAWN, caller, prompt="Go", **given)
                await p.tool(WAIT, caller, chat_id=spawned["chat_id"])
                assert (await p.chats.get(spawned["chat_id"])).effort == effort
            assert [prompt.effort for prompt in child.prompts] == ["high", None]
            error = await p.error(SPAWN, caller, prompt="Go", effort="huge")
            assert error.startswith("effort: 'huge' is none of low, medium")
            with pytest.raises(BadChatRequest, match="'huge' is none of"):
                await p.chats.create(prompt=None, effort="huge")
            assert (await p.chats.create(prompt=None, effort="low")).effort == "low"

    asyncio.run(scenario())


def test_a_second_wait_gives_the_same_result_until_there_is_a_new_message(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel(
            [
                [act("screenshot")],
                [report("First")],
                [act("screenshot")],
                [report("Second", "partly")],
            ]
        )
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            first = await p.tool(WAIT, caller, chat_id=chat_id)
            assert await p.tool(WAIT, caller, chat_id=chat_id) == first
            sent = await p.tool("message_agent", caller, chat_id=chat_id, message="Again")
            assert (sent["status"], sent["interrupted"]) == ("queued", False)
            second = await p.tool(WAIT, caller, chat_id=chat_id)
            assert (second["report"], second["outcome"]) == ("Second", "partly")
            assert second["recording_file_id"] != first["recording_file_id"]
            assert (await p.chats.get(chat_id)).recording_file_ids == (
                first["recording_file_id"],
                second["recording_file_id"],
            )
            assert p.machines.acquired == [chat_id]

    asyncio.run(scenario())


def test_a_wait_that_times_out_returns_the_childs_progress(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Done"))
        child = ScriptedModel([[act("left_click", coordinate=[1, 2])], hold])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
            result = await p.tool(WAIT, caller, chat_id=chat_id, timeout_seconds=0.01)
            assert result["timed_out"] is True
            assert result["status"] == "running"
            assert result["steps"] == 1
            assert result["last_action"] == "left_click: 1, 2"
            assert result["elapsed_ms"] > 0
            assert result["live_url"] == "http://plane/desktops/desktop-1"
            assert result["type"] == "computer_use"
            assert (await p.files.load(result["screenshot_file_id"])) == b"png"
            assert "report" not in result
            hold.released.set()
            assert (await p.tool(WAIT, caller, chat_id=chat_id))["report"] == "Done"

    asyncio.run(scenario())


def test_an_interval_of_zero_or_less_is_the_usual_patience(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings = ChatSettings("http://plane", wait_seconds=0.01)
        hold = Hold(report("Done"))
        async with open_chats(tmp_path, {"child": ScriptedModel([hold])}, settings=settings) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            for seconds in (0, -5):
                result = await p.tool(WAIT, caller, chat_id=chat_id, timeout_seconds=seconds)
                assert result["timed_out"] is True
                assert result["screenshot_file_id"] is None

    asyncio.run(scenario())


def test_several_children_are_waited_for_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Slow"))
        models = {"quick": ScriptedModel([[report("Quick")]]), "slow": ScriptedModel([hold])}
        async with open_chats(tmp_path, models) as p:
            caller = await p.caller()
            quick = (await p.tool(SPAWN, caller, prompt="Go", model="quick"))["chat_id"]
            slow = (await p.tool(SPAWN, caller, prompt="Go", model="slow"))["chat_id"]
            first = await p.tool(WAIT, caller, chat_ids=[slow, quick], mode="any")
            assert [r["report"] for r in first["results"]] == ["Quick"]
            assert [r["chat_id"] for r in first["pending"]] == [slow]
            assert first["timed_out"] is False
            late = await p.tool(WAIT, caller, chat_ids=[slow, quick], timeout_seconds=0.01)
            assert late["timed_out"] is True
            assert len(late["results"]) == 1
            hold.released.set()
            both = await p.tool(WAIT, caller, chat_ids=[slow, quick])
            assert [r["report"] for r in both["results"]] == ["Slow", "Quick"]
            assert (both["pending"], both["timed_out"]) == ([], False)

    asyncio.run(scenario())


def test_many_waits_for_one_child_all_get_the_same(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Done"))
        async with open_chats(tmp_path, {"child": ScriptedModel([[act("screenshot")], hold])}) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
            waits = [asyncio.create_task(p.tool(WAIT, caller, chat_id=chat_id)) for _ in range(5)]
            hold.released.set()
            results = await asyncio.gather(*waits)
            assert all(result == results[0] for result in results)
            assert len(p.machines.desktops["desktop-1"].posted("recording/stop")) == 1

    asyncio.run(scenario())


def test_nothing_happens_when_the_target_is_not_below_the_caller(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Done"))
        async with open_chats(tmp_path, {"child": ScriptedModel([hold])}) as p:
            caller = await p.caller()
            stranger = (await p.chats.default_chat("stranger")).id
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
            not_mine = "target chat is not a subagent of the current chat"
            for target in (chat_id, stranger, str(uuid.uuid4())):
                assert await p.error(WAIT, stranger, chat_id=target) == not_mine
            assert await p.error(WAIT, stranger, chat_ids=[chat_id]) == not_mine
            not_below = "target chat is not a descendant of current chat"
            for name in ("interrupt_agent", "close_agent"):
                assert await p.error(name, stranger, chat_id=chat_id) == not_below
            refused = await p.error("message_agent", stranger, chat_id=chat_id, message="Hi")
            assert refused == not_below
            assert p.machines.desktops["desktop-1"].posted("recording/start") == []
            assert (await p.chats.get(chat_id)).state == "running"

    asyncio.run(scenario())


def test_wrong_arguments_are_refused_before_anything_starts(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([])}) as p:
            caller = await p.caller()
            assert await p.error(SPAWN, caller, prompt="  ") == "prompt is required"
            assert await p.error(SPAWN, caller) == "prompt is required"
            assert "no desktop has the id nine" in await p.error(
                SPAWN, caller, prompt="Go", desktop="nine"
            )
            assert "set a key" in await p.error(SPAWN, caller, prompt="Go", model="dear")
            assert await p.error(WAIT, caller, chat_id="7") == "chat_id must be a valid UUID"
            missing = str(uuid.uuid4())
            assert await p.error("message_agent", caller, chat_id=missing, message=" ") == (
                "message is required"
            )
            assert (await p.chats.get(caller)).children == ()
            assert p.machines.acquired == []

    asyncio.run(scenario())


def test_only_chats_of_owners_give_a_child_a_desktop_of_no_chat(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[report("Done")]])
        async with open_chats(tmp_path, {"child": child}, is_owner=lambda by: by == "owner") as p:
            p.machines.desktops["free"] = FakeDesktop()
            mine = await p.chats.create(prompt=None, owner="owner")
            foreign = await p.chats.create(prompt=None, owner="person:ada")
            refused = await p.error(SPAWN, foreign.id, prompt="Go", desktop="free")
            assert "no desktop has the id free" in refused
            assert (await p.chats.get(foreign.id)).children == ()
            spawned = await p.tool(SPAWN, mine.id, prompt="Go", desktop="free")
            result = await p.tool(WAIT, mine.id, chat_id=spawned["chat_id"])
            assert result["live_url"] == "http://plane/desktops/free"

    asyncio.run(scenario())


def test_a_child_has_no_children(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[call(SPAWN, prompt="Deeper")], [report("No")]])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await p.tool(WAIT, caller, chat_id=chat_id)
            assert SPAWN not in [spec.name for spec in child.prompts[0].tools]
            assert [step.error for step in await p.chats.steps(chat_id)] == [
                f"Tool not found: {SPAWN}"
            ]
            refused = "delegated chats cannot create child subagents"
            assert await p.error(SPAWN, chat_id, prompt="Deeper") == refused
            assert "root chats" in await p.error("list_agents", chat_id)

    asyncio.run(scenario())


def test_a_failed_model_of_a_child_is_reported_as_its_result(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[act("screenshot")], ModelUnavailable("overloaded", 3)])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            result = await p.tool(WAIT, caller, chat_id=chat_id)
            assert result["status"] == "error"
            assert "overloaded" in result["last_error"]
            assert result["last_error_kind"] == "model_unavailable"
            assert result["last_error_retryable"] is True
            assert (result["recording_status"], result["end_reason"]) == ("stored", "child_error")

    asyncio.run(scenario())


def test_a_desktop_that_cannot_start_is_the_childs_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = FakeMachines(failure=OSError("no Xvnc here"))
        async with open_chats(tmp_path, {"child": ScriptedModel([])}, machines=machines) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            result = await p.tool(WAIT, caller, chat_id=chat_id)
            assert result["status"] == "error"
            assert result["last_error"] == "no Xvnc here"
            assert result["last_error_kind"] == "desktop"
            assert result["recording_status"] == "none"
            machines.failure = None
            p.models.models["child"] = ScriptedModel([[report("Now it works")]])
            await p.tool("message_agent", caller, chat_id=chat_id, message="Try again")
            again = await p.tool(WAIT, caller, chat_id=chat_id)
            assert again["report"] == "Now it works"
            assert "last_error" not in again

    asyncio.run(scenario())


@pytest.mark.parametrize("end", ["recording/start", "recording/stop", "video?part=1"])
def test_a_failing_recorder_never_fails_the_wait(tmp_path: Path, end: str) -> None:
    async def scenario() -> None:
        desktop = FakeDesktop(refuses={end: MachineRefused(500, "Disk full.", "0 bytes")})
        machines = FakeMachines({"desktop-1": desktop})
        child = ScriptedModel([[act("screenshot")], [report("Done")]])
        async with open_chats(tmp_path, {"child": child}, machines=machines) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            result = await p.tool(WAIT, caller, chat_id=chat_id)
            assert result["report"] == "Done"
            assert result["recording_status"] == "none"
            assert "Disk full." in result["recording_warning"]
            assert "recording_file_id" not in result
            assert result["recording_file_ids"] == []

    asyncio.run(scenario())


def test_a_video_without_a_thumbnail_is_stored_all_the_same(tmp_path: Path) -> None:
    async def scenario() -> None:
        desktop = FakeDesktop(refuses={"thumbnail": MachineRefused(404, "None.")})
        machines = FakeMachines({"desktop-1": desktop})
        child = ScriptedModel([[act("screenshot")], [report("Done")]])
        async with open_chats(tmp_path, {"child": child}, machines=machines) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            result = await p.tool(WAIT, caller, chat_id=chat_id)
            assert result["recording_status"] == "stored"
            assert "thumbnail_file_id" not in result
            assert "no thumbnail" in result["recording_warning"]

    asyncio.run(scenario())


def test_a_child_that_never_touches_its_desktop_is_recorded_when_waited_for(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        hold = Hold(report("Thought about it"))
        async with open_chats(tmp_path, {"child": ScriptedModel([hold])}) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
            assert p.machines.desktops["desktop-1"].posted("recording/start") == []
            await p.tool(WAIT, caller, chat_id=chat_id, timeout_seconds=0.2)
            assert (await p.chats.get(chat_id)).recording_status == "recording"
            hold.released.set()
            result = await p.tool(WAIT, caller, chat_id=chat_id)
            assert result["recording_status"] == "stored"

    asyncio.run(scenario())


def test_a_child_that_ended_without_a_wait_was_stored_then(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[act("screenshot")], [report("Done")]])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await p.until(chat_id, "waiting")
            view = await p.chats.get(chat_id)
            assert view.recording_status == "stored"
            result = await p.tool(WAIT, caller, chat_id=chat_id)
            assert result["recording_file_id"] == view.recording_file_id
            assert len(p.machines.desktops["desktop-1"].posted("recording/start")) == 1

    asyncio.run(scenario())


def test_a_child_gets_the_egress_that_is_requested_for_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[report("Done")]] * 3)
        settings = ChatSettings("http://plane", egress=STRICT)
        async with open_chats(tmp_path, {"child": child}, settings=settings) as p:
            caller = await p.caller()
            for wanted in (LISTED, Egress("list", ("a.example.org",)), Egress("none")):
                names = list(wanted.allow) or None
                spawned = await p.tool(SPAWN, caller, prompt="Go", egress=wanted.mode, allow=names)
                await p.tool(WAIT, caller, chat_id=spawned["chat_id"])
                assert p.machines.egress[spawned["chat_id"]] == wanted

    asyncio.run(scenario())


def test_a_child_gets_no_more_egress_than_its_parent_has(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings = ChatSettings("http://plane", egress=STRICT)
        models = {"child": ScriptedModel([])}
        async with open_chats(tmp_path, models, settings=settings) as p:
            caller = await p.caller()
            for wrong, why in (
                ({"egress": "open"}, "this chat has list *.example.org; a child cannot have more"),
                ({"allow": ["example.com"]}, "a child cannot have more"),
                ({"egress": "list"}, "needs allow"),
                ({"egress": "some"}, "egress must be one of open, internet, list, none"),
                ({"allow": "a.example"}, "allow must be a list"),
                ({"egress": "none", "desktop": "shared"}, "only for a desktop of its own"),
            ):
                assert why in await p.error(SPAWN, caller, prompt="Go", **wrong)
            assert (await p.chats.get(caller)).children == ()

    asyncio.run(scenario())


def test_a_shared_desktop_is_the_parents(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[act("screenshot")], [report("Done")]])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            spawned = await p.tool(SPAWN, caller, prompt="Go", desktop="shared")
            result = await p.tool(WAIT, caller, chat_id=spawned["chat_id"])
            assert result["live_url"] == "http://plane/desktops/desktop-1"
            assert p.machines.acquired == [caller]
            assert p.machines.has_display("desktop-1")
            await p.tool("close_agent", caller, chat_id=spawned["chat_id"])
            assert p.machines.released == []

    asyncio.run(scenario())


def test_a_child_can_be_put_on_a_desktop_that_is_there(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = FakeMachines({"mine": FakeDesktop()})
        child = ScriptedModel([[act("screenshot")], [report("Done")]])
        async with open_chats(tmp_path, {"child": child}, machines=machines) as p:
            caller = await p.caller()
            spawned = await p.tool(SPAWN, caller, prompt="Go", desktop="mine")
            await p.tool(WAIT, caller, chat_id=spawned["chat_id"])
            assert machines.desktops["mine"].frames == 1
            assert ("mine", spawned["chat_id"], (caller,)) in machines.asked

    asyncio.run(scenario())


def test_a_budget_of_money_ends_the_turn_and_the_parent_receives_the_cost(tmp_path: Path) -> None:
    async def scenario() -> None:
        name = "claude-opus-5-5"
        child = ScriptedModel([[act("screenshot")] for _ in range(5)])
        async with open_chats(tmp_path, {name: child}) as p:
            caller = await p.caller()
            spawned = await p.tool(SPAWN, caller, prompt="Go", model=name, budget={"usd": 0.0002})
            result = await p.tool(WAIT, caller, chat_id=spawned["chat_id"])
            # Each reply costs 0.00014 USD.
            assert (result["steps"], result["last_error_kind"]) == (2, "budget")
            assert "0.0002 USD" in result["last_error"]
            assert result["usage"]["cost_usd"] == pytest.approx(0.00028)
            first, _ = await p.chats.steps(spawned["chat_id"])
            assert first.usage is not None
            assert first.usage["cost_usd"] == pytest.approx(0.00014)

    asyncio.run(scenario())


def test_a_budget_of_money_needs_the_prices_of_the_model(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([])}) as p:
            error = await p.error(SPAWN, await p.caller(), prompt="Go", budget={"usd": 1})
            assert "those of child are not known; use budget.tokens" in error

    asyncio.run(scenario())


def test_a_budget_ends_the_turn_and_is_named_in_the_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[act("screenshot")] for _ in range(5)])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            spawned = await p.tool(SPAWN, caller, prompt="Go", budget={"steps": 2})
            result = await p.tool(WAIT, caller, chat_id=spawned["chat_id"])
            assert (result["steps"], result["outcome"]) == (2, "partly")
            assert result["last_error_kind"] == "budget"
            assert "2 steps" in result["last_error"]
            assert result["status"] == "waiting"
            assert result["end_reason"] == "completed"

    asyncio.run(scenario())


def test_a_message_to_a_busy_child_waits_for_its_turn(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(Text("First done"))
        child = ScriptedModel([hold, [report("Second done")]])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="One"))["chat_id"]
            await hold.reached.wait()
            sent = await p.tool("message_agent", caller, chat_id=chat_id, message="Two")
            assert (sent["status"], sent["interrupted"]) == ("running", False)
            assert (await p.chats.get(chat_id)).queue_length == 1
            hold.released.set()
            result = await p.tool(WAIT, caller, chat_id=chat_id)
            assert result["report"] == "Second done"
            texts = [m.content[0].get("text") for m in await p.chats.messages(chat_id)][:3]
            assert texts == ["One", "First done", "Two"]

    asyncio.run(scenario())


def test_an_interrupting_message_comes_before_the_end_of_the_turn(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Never"))
        child = ScriptedModel([hold, [report("As you like")]])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="One"))["chat_id"]
            await hold.reached.wait()
            sent = await p.tool(
                "message_agent", caller, chat_id=chat_id, message="Stop, do two", interrupt=True
            )
            assert (sent["status"], sent["interrupted"]) == ("interrupting", True)
            assert (await p.tool(WAIT, caller, chat_id=chat_id))["report"] == "As you like"
            assert (await p.chats.get(chat_id)).turn == 2

    asyncio.run(scenario())


def test_an_interrupted_child_rests_and_its_open_call_is_answered(tmp_path: Path) -> None:
    async def scenario() -> None:
        never = asyncio.Event()
        desktop = FakeDesktop(on_action=lambda: _until(never))
        machines = FakeMachines({"desktop-1": desktop})
        child = ScriptedModel([[act("screenshot")], [report("Went on")]])
        async with open_chats(tmp_path, {"child": child}, machines=machines) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await desktop.acted.wait()
            stopped = await p.tool("interrupt_agent", caller, chat_id=chat_id)
            assert stopped["interrupted"] is True
            result = await p.tool(WAIT, caller, chat_id=chat_id)
            assert (result["status"], result["report"]) == ("waiting", "")
            assert (result["recording_status"], result["end_reason"]) == ("stored", "closed")
            assert [s.status for s in await p.chats.steps(chat_id)] == ["interrupted"]
            assert (await p.tool("interrupt_agent", caller, chat_id=chat_id))[
                "interrupted"
            ] is False
            desktop.on_action = None
            await p.tool("message_agent", caller, chat_id=chat_id, message="Go on")
            assert (await p.tool(WAIT, caller, chat_id=chat_id))["report"] == "Went on"
            answers = child.prompts[1].messages[2].content
            assert [getattr(block, "is_error", None) for block in answers] == [True, None]

    asyncio.run(scenario())


def test_closing_a_child_ends_its_turn_and_its_desktop(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Never"))
        child = ScriptedModel([[act("screenshot")], hold, [report("A new life")]])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
            closed = await p.tool("close_agent", caller, chat_id=chat_id)
            assert (closed["terminated"], closed["status"]) == (True, "waiting")
            assert p.machines.released == ["desktop-1"]
            view = await p.chats.get(chat_id)
            assert (view.desktop_id, view.end_reason) == (None, "closed")
            assert (await p.tool("close_agent", caller, chat_id=chat_id))["status"] == "waiting"
            await p.tool("message_agent", caller, chat_id=chat_id, message="Again")
            assert (await p.tool(WAIT, caller, chat_id=chat_id))["report"] == "A new life"
            assert p.machines.acquired == [chat_id, chat_id]
            assert "new desktop" in str(child.prompts[-1].messages[-1])

    asyncio.run(scenario())


def test_children_are_listed_newest_change_first(tmp_path: Path) -> None:
    async def scenario() -> None:
        models = {name: ScriptedModel([[report(name)]]) for name in ("one", "two", "three")}
        async with open_chats(tmp_path, models) as p:
            caller = await p.caller()
            for name in models:
                spawned = await p.tool(SPAWN, caller, prompt="Go", title=name, model=name)
                await p.tool(WAIT, caller, chat_id=spawned["chat_id"])
            page = await p.tool("list_agents", caller, limit=2)
            assert [agent["title"] for agent in page["agents"]] == ["three", "two"]
            assert (page["total"], page["returned"], page["has_more"]) == (3, 2, True)
            rest = await p.tool("list_agents", caller, limit=2, offset=2)
            assert [agent["title"] for agent in rest["agents"]] == ["one"]
            assert rest["has_more"] is False

    asyncio.run(scenario())


def test_more_children_than_desktops_wait_in_the_queue(tmp_path: Path) -> None:
    async def scenario() -> None:
        holds = [Hold(report(str(n))) for n in range(3)]
        models = {str(n): ScriptedModel([holds[n]]) for n in range(3)}
        settings = ChatSettings("http://plane", desktops=1)
        async with open_chats(tmp_path, models, settings=settings) as p:
            caller = await p.caller()
            ids = []
            for n in range(3):
                spawned = await p.tool(SPAWN, caller, prompt="Go", model=str(n))
                ids.append(spawned["chat_id"])
                if n == 0:
                    await holds[0].reached.wait()
            result = await p.tool(WAIT, caller, chat_id=ids[2], timeout_seconds=0.2)
            assert (result["status"], result["place"]) == ("queued", 2)
            for hold in holds:
                hold.released.set()
            done = await p.tool(WAIT, caller, chat_ids=ids)
            assert [result["report"] for result in done["results"]] == ["0", "1", "2"]
            assert p.machines.released == ["desktop-1", "desktop-2"]

    asyncio.run(scenario())


def test_a_wait_for_a_chat_that_is_deleted_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Never"))
        async with open_chats(tmp_path, {"child": ScriptedModel([hold])}) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            await hold.reached.wait()
            wait = asyncio.create_task(p.try_tool(WAIT, caller, chat_id=chat_id))
            await asyncio.sleep(0)
            await p.chats.delete(chat_id)
            outcome = await wait
            # It is at rest first and gone then; the wait sees the one or the other.
            result = outcome.error or outcome.value["status"]
            assert "waiting" in result or chat_id in result or "not a subagent" in result

    asyncio.run(scenario())


async def _until(event: asyncio.Event) -> None:
    await event.wait()


def test_an_agent_without_a_screen_works_with_commands_and_files_only(tmp_path: Path) -> None:
    async def scenario() -> None:
        helper = ScriptedModel([[call("echo", a=1)], [report("Found")]])
        async with open_chats(tmp_path, {"helper": helper}, tools=(WriteFileTool(),)) as p:
            caller = await p.caller()
            spawned = await p.tool("spawn_agent", caller, type="explore", prompt="Look around")
            assert spawned["type"] == "explore"
            result = await p.tool("wait_agent", caller, chat_id=spawned["chat_id"])
            assert (result["report"], result["recording_status"]) == ("Found", "none")
            assert p.machines.acquired == [caller]
            assert not p.machines.has_display("desktop-1")
            (first, *_) = helper.prompts
            names = {spec.name for spec in first.tools}
            assert {"echo", "attach_file", "request_human", "report"} <= names
            assert not names & {"write_file", "spawn_agent"}
            assert not first.computer

    asyncio.run(scenario())
