"""Approvals of calls, asked and answered during the turns of real chats."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.conversation.conversation import SafetyCheck, Text, ToolCall, ToolResult
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.restrictions import ChatRestrictions
from deskhand.tools.kit.support.spec import (
    Json,
    MachineRefused,
    ToolContext,
    ToolOutcome,
    ToolSpec,
)
from deskhand.tools.kit.support.workdir_path import CONTEXT
from tests.tools.agents.chats.fakes import (
    FakeMachines,
    Hold,
    OpenChats,
    ScriptedModel,
    act,
    after_a_kill,
    call,
    open_chats,
    report,
)

RISKY = ChatSettings("http://plane", approval="risky", action_seconds=0.0)
FOCUS = "/api/v0/desktop/focus"
PASSWORD: Json = {"window": {"title": "T", "class": "Chromium"}, "field": {"password": True}}
PLAIN: Json = {"window": {"title": "T", "class": "Chromium"}, "field": None}


class Command:
    """The tool ``execute``, which notes its commands."""

    def __init__(self) -> None:
        self.run: list[str] = []

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec("execute", "", {"type": "object"})

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        self.run.append(arguments["command"])
        return ToolOutcome({"success": True})


def results(model: ScriptedModel, index: int = -1) -> list[str]:
    blocks = model.prompts[index].messages[-1].content
    found = [one for block in blocks if isinstance(block, ToolResult) for one in block.content]
    return [one.text for one in found if isinstance(one, Text)]


def removing(*commands: str) -> ScriptedModel:
    calls = [call("execute", command=command) for command in commands]
    script: list[Any] = [[one] for one in calls]
    return ScriptedModel([*script, [report("Done")]])


async def asked(p: OpenChats, chat_id: str, answers: Sequence[str]) -> list[Json]:
    """Answer the questions of a chat one after the other; return them."""
    found: list[Json] = []
    for answer in answers:
        await p.until(chat_id, "requires_action")
        found.append((await p.chats.get(chat_id)).requires_action or {})
        await p.chats.answer(chat_id, answer, question=found[-1]["id"])
    await p.until(chat_id, "waiting")
    return found


@pytest.mark.parametrize(("answer", "run"), [("approve", ["rm x"]), ("refuse", [])])
def test_a_risky_call_is_performed_after_a_person_has_approved_it(
    tmp_path: Path, answer: str, run: list[str]
) -> None:
    async def scenario() -> None:
        tool, model = Command(), removing("rm x")
        async with open_chats(tmp_path, {"parent": model}, settings=RISKY, tools=(tool,)) as p:
            chat = await p.chats.create(prompt="Go")
            (question,) = await asked(p, chat.id, [answer])
            assert (question["kind"], question["rules"]) == ("approval", ["delete"])
            assert question["question"].endswith("because it deletes something (rm).")
            assert question["call"]["arguments"] == {"command": "rm x"}
            assert question["deadline"] - question["asked_at"] == 24 * 3600
        assert tool.run == run
        assert run or "Not done: a person refused" in results(model)[0]

    asyncio.run(scenario())


def test_a_question_has_the_whole_call(tmp_path: Path) -> None:
    async def scenario() -> None:
        command = "echo " + "harmless " * 500 + "; rm everything"
        tool, model = Command(), removing(command)
        async with open_chats(tmp_path, {"parent": model}, settings=RISKY, tools=(tool,)) as p:
            chat = await p.chats.create(prompt="Go")
            (question,) = await asked(p, chat.id, ["refuse"])
            assert question["question"].endswith(f"command: {command}")
            assert question["call"]["title"].endswith("…")

    asyncio.run(scenario())


def test_always_covers_the_rule_in_the_chat(tmp_path: Path) -> None:
    async def scenario() -> None:
        tool, model = Command(), removing("rm a", "rm b", "ssh host", "ls")
        async with open_chats(tmp_path, {"parent": model}, settings=RISKY, tools=(tool,)) as p:
            chat = await p.chats.create(prompt="Go")
            found = await asked(p, chat.id, ["always", "refuse"])
            assert [one["rules"] for one in found] == [["delete"], ["outside"]]
            assert tool.run == ["rm a", "rm b", "ls"]
            model.script += [[call("execute", command="rm c")], [report("Done")]]
            await p.chats.send(chat.id, "And c")
            await p.until(chat.id, "running")
            await p.until(chat.id, "waiting")
        assert tool.run[-1] == "rm c"

    asyncio.run(scenario())


def test_every_asks_before_each_action_and_auto_before_none(tmp_path: Path) -> None:
    async def scenario() -> None:
        tool = Command()
        models = {"every": removing("ls", "ls"), "auto": removing("rm x")}
        async with open_chats(tmp_path, models, settings=RISKY, tools=(tool,)) as p:
            every = ChatRestrictions("every")
            chat = await p.chats.create(prompt="Go", model="every", restrictions=every)
            found = await asked(p, chat.id, ["approve", "always"])
            assert [one["rules"] for one in found] == [["every:tool.execute"]] * 2
            auto = ChatRestrictions("auto")
            chat = await p.chats.create(prompt="Go", model="auto", restrictions=auto)
            await p.until(chat.id, "waiting")
        assert tool.run == ["ls", "ls", "rm x"]

    asyncio.run(scenario())


def test_no_answer_in_time_is_a_refusal(tmp_path: Path) -> None:
    async def scenario() -> None:
        tool, model, now = Command(), removing("rm x"), Clock()
        settings = replace(RISKY, question_seconds=300.0)
        async with open_chats(
            tmp_path, {"parent": model}, settings=settings, tools=(tool,), now=now
        ) as p:
            chat = await p.chats.create(prompt="Go")
            await p.until(chat.id, "waiting")
            row = await p.store.read(lambda s: s.scalar(text("SELECT state FROM questions")))
        assert row == "expired"
        assert tool.run == []
        assert "no person answered within 5m0s" in results(model)[0]

    asyncio.run(scenario())


class Clock:
    """A clock on which 300 s pass between two readings."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        self.now += 300.0
        return self.now


@pytest.mark.parametrize("answered_before", [True, False])
def test_an_approval_outlives_a_kill_and_the_call_is_performed_once(
    tmp_path: Path, answered_before: bool
) -> None:
    async def scenario() -> None:
        tool, model = Command(), removing("rm x")
        async with open_chats(tmp_path, {"parent": model}, settings=RISKY, tools=(tool,)) as killed:
            chat = await killed.chats.create(prompt="Go")
            await killed.until(chat.id, "requires_action")
            if answered_before:
                # The answer is in the database, and the process that waits for it is gone.
                await killed.store.write(lambda s: s.execute(text(ANSWERED)))
                await killed.store.write(lambda s: s.execute(text(RUNNING)))
            for _ in range(2):
                again = {"parent": ScriptedModel([[report("Done")]])}
                async with after_a_kill(killed, again, (tool,)) as second:
                    if (await second.chats.get(chat.id)).state == "requires_action":
                        await second.chats.answer(chat.id, "approve")
                    await second.until(chat.id, "waiting")
                    assert (await second.chats.get(chat.id)).report == "Done"
            assert tool.run == ["rm x"]

    asyncio.run(scenario())


ANSWERED = "UPDATE questions SET state = 'answered', answer = 'approve', closed_at = 1"
RUNNING = "UPDATE chats SET state = 'running'"


def test_a_call_that_began_before_a_kill_is_not_performed_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        tool, model = Command(), removing("rm x")
        async with open_chats(tmp_path, {"parent": model}, settings=RISKY, tools=(tool,)) as killed:
            chat = await killed.chats.create(prompt="Go")
            await killed.until(chat.id, "requires_action")
            await killed.store.write(lambda s: s.execute(text(f"{ANSWERED}, performed_at = 1")))
            await killed.store.write(lambda s: s.execute(text(RUNNING)))
            again = ScriptedModel([[report("Done")]])
            async with after_a_kill(killed, {"parent": again}, (tool,)) as second:
                await second.until(chat.id, "waiting")
            assert tool.run == []
            assert "may or may not have taken effect" in results(again)[0]

    asyncio.run(scenario())


class Housed(FakeMachines):
    """Desktops with a working directory that outlives them."""

    async def acquire(self, *arguments: Any, **options: Any) -> str:
        found = await super().acquire(*arguments, **options)
        answer = {"working_dir": "/kept", "home": "/home/a", "lasting_dirs": ["/kept"]}
        self.desktops[found].answers[CONTEXT] = answer
        return found


def test_what_ends_with_the_desktop_is_not_asked(tmp_path: Path) -> None:
    async def scenario() -> None:
        tool, model = Command(), removing("rm -f /tmp/x", "pip install x", "rm x")
        async with open_chats(
            tmp_path, {"parent": model}, settings=RISKY, tools=(tool,), machines=Housed()
        ) as p:
            chat = await p.chats.create(prompt="Go")
            (question,) = await asked(p, chat.id, ["refuse"])
            assert question["call"]["arguments"] == {"command": "rm x"}
        assert tool.run == ["rm -f /tmp/x", "pip install x"]

    asyncio.run(scenario())


def typing(*further: Any) -> ScriptedModel:
    return ScriptedModel([[act("type", text="hunter2")], *further, [report("Done")]])


class Focused(FakeMachines):
    """Desktops on which a field has the keyboard."""

    def __init__(self, *focus: Json | Exception) -> None:
        super().__init__()
        self.focus: list[Json | Exception] = list(focus)

    async def acquire(self, *arguments: Any, **options: Any) -> str:
        found = await super().acquire(*arguments, **options)
        self.desktops[found].changing = {FOCUS: self.focus}
        self.desktops[found].screen = b"jpeg"
        return found


@pytest.mark.parametrize(("after", "typed"), [(PASSWORD, 1), (PLAIN, 0)])
def test_a_text_for_a_password_field_is_typed_if_that_keeps_the_keyboard(
    tmp_path: Path, after: Json, typed: int
) -> None:
    async def scenario() -> None:
        machines, model = Focused(PASSWORD, after), typing()
        async with open_chats(tmp_path, {"child": model}, settings=RISKY, machines=machines) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            (question,) = await asked(p, chat.id, ["approve"])
            assert question["rules"] == ["password_field"]
            assert question["call"] == {
                "tool": "computer",
                "action": "type",
                "title": "type: 7 characters",
                "arguments": {"text": "7 characters"},
            }
            assert question["picture"] is not None
            (desktop,) = machines.desktops.values()
            assert len(desktop.posted("/action")) == typed
        assert typed or "another window or field" in results(model)[0]

    asyncio.run(scenario())


def test_a_command_that_requests_input_is_judged_by_the_field(tmp_path: Path) -> None:
    async def scenario() -> None:
        command = """deskhand-request input '{"action": "type", "text": "hunter2"}'"""
        tool, model = Command(), ScriptedModel([[call("execute", command=command)]])
        model.script += [[call("execute", command="ls")], [report("Done")]]
        machines = Focused(PASSWORD)
        async with open_chats(
            tmp_path, {"child": model}, settings=RISKY, tools=(tool,), machines=machines
        ) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            (question,) = await asked(p, chat.id, ["refuse"])
            assert question["rules"] == ["password_field"]
            assert "hunter2" not in str(question)
        assert tool.run == ["ls"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("refusals", "questions"),
    [([MachineRefused(409, "a person is in control")], 0), ([MachineRefused(503, "no")], 1)],
)
def test_while_a_person_is_in_control_nothing_is_asked(
    tmp_path: Path, refusals: list[Exception], questions: int
) -> None:
    async def scenario() -> None:
        machines, model = Focused(*refusals, PLAIN), typing()
        async with open_chats(tmp_path, {"child": model}, settings=RISKY, machines=machines) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            found = await asked(p, chat.id, ["refuse"] * questions)
            assert len(found) == questions
            (desktop,) = machines.desktops.values()
            assert len(desktop.posted("/action")) == 1 - questions

    asyncio.run(scenario())


def test_checks_of_the_provider_are_asked_in_every_mode_and_acknowledged(tmp_path: Path) -> None:
    async def scenario() -> None:
        checks = (SafetyCheck("sc_1", "sensitive_domain", "Is this your bank?"),)
        calls = [replace(act("screenshot"), checks=checks) for _ in range(2)]
        model = ScriptedModel([[calls[0]], [calls[1]], [report("Done")]])
        async with open_chats(tmp_path, {"child": model}) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            found = await asked(p, chat.id, ["always", "refuse"])
            assert "Is this your bank?" in found[0]["question"]
        given = [b for m in model.prompts[-1].messages for b in m.content]
        done = [one for one in given if isinstance(one, ToolResult)]
        assert [one.acknowledged for one in done] == [True, False]
        assert next(one for one in given if isinstance(one, ToolCall)).checks == checks

    asyncio.run(scenario())


def test_a_chat_that_only_looks_gives_no_input(tmp_path: Path) -> None:
    async def scenario() -> None:
        tool = Command()
        script: list[Any] = [[act("screenshot")], [act("left_click", coordinate=[1, 2])]]
        model = ScriptedModel([*script, [call("execute", command="ls")], [report("A plan")]])
        async with open_chats(tmp_path, {"child": model}, tools=(tool,)) as p:
            looks = ChatRestrictions(look_only=True)
            chat = await p.chats.create(prompt="Go", mode="computer_use", restrictions=looks)
            await p.until(chat.id, "waiting")
            (desktop,) = p.machines.desktops.values()
            assert [one["action"] for one in desktop.posted("/action")] == ["screenshot"]
            assert [s.status for s in await p.chats.steps(chat.id)] == ["done", "failed", "failed"]
        assert "execute" not in {spec.name for spec in model.prompts[0].tools}
        assert tool.run == []
        assert "only looks" in results(model, 2)[0]

    asyncio.run(scenario())


def test_a_child_has_at_least_the_approvals_of_its_parent(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Done"))
        spawn = call("spawn_agent", type="general", prompt="x", approval="auto", model="child")
        other = call(
            "spawn_agent", type="general", prompt="x", domains=["b.example"], model="child"
        )
        models = {"parent": ScriptedModel([[spawn], [other], [report("Done")]])}
        child = ScriptedModel([hold])
        async with open_chats(tmp_path, {**models, "child": child}, settings=RISKY) as p:
            limits = ChatRestrictions("every", ("a.example",))
            chat = await p.chats.create(prompt="Go", restrictions=limits)
            await asked(p, chat.id, ["approve", "approve"])
            (listed,) = (await p.tool("list_agents", chat.id))["agents"]
            shown = await p.chats.get(listed["chat_id"])
            assert (shown.approval, shown.domains) == ("every", ("a.example",))
            steps = await p.chats.steps(chat.id)
            assert "not among those of this chat" in str(steps[1].error)
            hold.released.set()
            with pytest.raises(BadChatRequest):
                await p.chats.create(prompt=" ", restrictions=limits)

    asyncio.run(scenario())


def test_a_turn_that_is_stopped_performs_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        tool, model = Command(), removing("rm x")
        async with open_chats(tmp_path, {"parent": model}, settings=RISKY, tools=(tool,)) as p:
            chat = await p.chats.create(prompt="Go")
            await p.until(chat.id, "requires_action")
            await p.chats.interrupt(chat.id)
            await p.until(chat.id, "waiting")
            assert [s.status for s in await p.chats.steps(chat.id)] == ["interrupted"]
        assert tool.run == []

    asyncio.run(scenario())
