import asyncio
from pathlib import Path

import pytest

from deskhand.tools.conversation.conversation import Text
from deskhand.tools.conversation.errors import BadChatRequest, NoModel
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.store.errors import UnknownRow
from tests.tools.agents.chats.fakes import Hold, ScriptedModel, call, open_chats


class HeldTool:
    """Answers when the test releases it."""

    spec = ToolSpec("held", "Wait.", {"type": "object"})

    def __init__(self) -> None:
        self.called = asyncio.Event()
        self.released = asyncio.Event()

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        self.called.set()
        await self.released.wait()
        return ToolOutcome({"held": True})


def test_what_people_did_is_kept_with_the_chat(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"parent": ScriptedModel([[Text("One")]])}) as p:
            chat = await p.chats.create(prompt="1")
            await p.until(chat.id, "waiting")
            events = p.chats.events(chat.id)
            await p.chats.activities.add(chat.id, "answer", "Ada", "blue")
            assert (await anext(events)).kind == "status"
            await p.chats.activities.add(chat.id, "stop", "Ben")
            # A chat that does not exist any more has none.
            await p.chats.activities.add("gone", "stop", "Ben")
            found = await p.chats.activities.of(chat.id, [], conversation=True)
            assert [(one.kind, one.by, one.text) for one in found] == [
                ("answer", "Ada", "blue"),
                ("stop", "Ben", ""),
            ]
            hidden = await p.chats.activities.of(chat.id, [], conversation=False)
            assert [one.text for one in hidden] == ["", ""]
            await p.chats.delete(chat.id)
            assert await p.chats.activities.of(chat.id, [], conversation=True) == ()

    asyncio.run(scenario())


def test_a_late_stop_waits_for_the_running_step(tmp_path: Path) -> None:
    async def scenario() -> None:
        tool = HeldTool()
        model = ScriptedModel([[call("held")], [Text("Never.")]])
        async with open_chats(tmp_path, {"parent": model}, tools=(tool,)) as p:
            chat = await p.chats.create(prompt="1")
            await tool.called.wait()
            p.chats.activities.stop_after_step(chat.id)
            p.chats.activities.stop_after_step(chat.id)
            assert (await p.chats.get(chat.id)).state == "running"
            tool.released.set()
            await p.until(chat.id, "waiting")
            (step,) = await p.chats.steps(chat.id)
            assert step.status == "done"

    asyncio.run(scenario())


def test_a_late_stop_without_a_step_stops_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(Text("Never."))
        async with open_chats(tmp_path, {"parent": ScriptedModel([hold])}) as p:
            chat = await p.chats.create(prompt="1")
            await hold.reached.wait()
            p.chats.activities.stop_after_step(chat.id)
            await p.until(chat.id, "waiting")
            assert (await p.chats.get(chat.id)).report == ""
            # Of a chat that is gone there is nothing to stop.
            p.chats.activities.stop_after_step("gone")

    asyncio.run(scenario())


def test_a_run_begins_again_with_the_same_task_or_another(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[Text("One")], [Text("Two")], [Text("Three")]])
        async with open_chats(tmp_path, {"parent": model}) as p:
            first = await p.chats.create(prompt="Do it.", title="Mine", effort="low")
            await p.until(first.id, "waiting")
            again = await p.chats.activities.run_again(first.id, None, "ada")
            await p.until(again.id, "waiting")
            found = await p.chats.get(again.id)
            assert (found.title, found.effort, found.report) == ("Mine", "low", "Two")
            assert model.prompts[1].messages[0].content == (Text("Do it."),)
            forked = await p.chats.activities.run_again(first.id, "Do that.", "ada")
            await p.until(forked.id, "waiting")
            assert model.prompts[2].messages[0].content == (Text("Do that."),)
            assert (await p.chats.get(forked.id)).title == "Do that."

    asyncio.run(scenario())


def test_a_run_without_a_task_or_a_model_does_not_begin_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {}) as p:
            empty = await p.chats.create(prompt=None)
            with pytest.raises(BadChatRequest, match="not started with a task"):
                await p.chats.activities.run_again(empty.id, None, "ada")
            with pytest.raises(NoModel):
                await p.chats.activities.run_again(empty.id, "Do it.", "ada")
            with pytest.raises(UnknownRow):
                await p.chats.activities.run_again("gone", None, "ada")

    asyncio.run(scenario())
