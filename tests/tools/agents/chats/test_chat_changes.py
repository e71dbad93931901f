import asyncio
from pathlib import Path

import pytest

from deskhand.tools.agents.loop.compaction import REQUESTED
from deskhand.tools.agents.providers.errors import ModelRefused
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import Text
from deskhand.tools.conversation.errors import BadChatRequest, Conflict, IllegalMove
from deskhand.tools.store.errors import UnknownRow
from tests.tools.agents.chats.fakes import Hold, ScriptedModel, call, open_chats, report


def texts(prompt: Prompt) -> list[str]:
    return [b.text for m in prompt.messages for b in m.content if isinstance(b, Text)]


def test_a_chat_gets_another_title(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {}) as p:
            chat = await p.caller()
            with p.chats.events(chat) as news:
                await p.chats.rename(chat, "  Other  ")
                assert (await anext(news)).data["title"] == "Other"
            assert (await p.chats.get(chat)).title == "Other"
            with pytest.raises(BadChatRequest, match="title must not be blank"):
                await p.chats.rename(chat, " ")
            with pytest.raises(UnknownRow):
                await p.chats.rename("nothing", "Other")

    asyncio.run(scenario())


def test_an_archived_chat_is_taken_back_with_its_children(tmp_path: Path) -> None:
    async def scenario() -> None:
        models = {
            "child": ScriptedModel([[report("Done")]]),
            "parent": ScriptedModel([[Text("A")]]),
        }
        async with open_chats(tmp_path, models) as p:
            caller = await p.caller()
            spawned = await p.tool("spawn_computer_use_agent", caller, prompt="Go")
            child = spawned["chat_id"]
            await p.until(child, "waiting")
            with pytest.raises(IllegalMove, match="cannot unarchive a chat that is waiting"):
                await p.chats.unarchive(caller)
            await p.chats.archive(caller)
            with pytest.raises(BadChatRequest, match="its parent is archived"):
                await p.chats.unarchive(child)
            await p.chats.unarchive(caller)
            assert not (await p.chats.get(caller)).archived
            assert not (await p.chats.get(child)).archived
            await p.chats.send(caller, "Hello")
            await p.until(caller, "waiting")

    asyncio.run(scenario())


def test_a_compaction_is_a_turn_that_keeps_the_result(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel(
            [[call("echo", say="hi")], [Text("Said hi.")], [Text("They said hi.")], [Text("Yes.")]]
        )
        async with open_chats(tmp_path, {"parent": model}) as p:
            chat = (await p.chats.create(prompt="Say hi")).id
            await p.until(chat, "waiting")
            before = await p.chats.get(chat)
            await p.chats.compact(chat)
            await p.until(chat, "waiting")
            after = await p.chats.get(chat)
            assert (after.report, after.outcome) == (before.report, before.outcome)
            step = (await p.chats.steps(chat))[-1]
            assert (step.tool, step.status) == ("checkpoint", "done")
            assert step.title == "Checkpoint at a person's request"
            assert REQUESTED in texts(model.prompts[2])
            await p.chats.send(chat, "And now?")
            await p.until(chat, "waiting")
            assert (await p.chats.get(chat)).report == "Yes."
            sent = texts(model.prompts[3])
            assert "They said hi." in sent[0]
            assert "Say hi" not in sent
            assert sent[-1] == "And now?"

    asyncio.run(scenario())


def test_a_compaction_without_a_summary_fails_and_changes_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[Text("One")], ModelRefused(400, "no"), [Text("Two")]])
        async with open_chats(tmp_path, {"parent": model}) as p:
            chat = (await p.chats.create(prompt="First")).id
            await p.until(chat, "waiting")
            await p.chats.compact(chat)
            await p.until(chat, "error")
            assert "(400): no" in str((await p.chats.get(chat)).last_error)
            assert (await p.chats.steps(chat))[-1].status == "failed"
            await p.chats.send(chat, "Second")
            await p.until(chat, "waiting")
            assert texts(model.prompts[-1])[0] == "First"

    asyncio.run(scenario())


def test_a_message_waits_for_the_end_of_a_compaction(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(Text("A summary"))
        model = ScriptedModel([[Text("One")], hold, [Text("Two")]])
        async with open_chats(tmp_path, {"parent": model}) as p:
            chat = (await p.chats.create(prompt="First")).id
            await p.until(chat, "waiting")
            await p.chats.compact(chat)
            await hold.reached.wait()
            with pytest.raises(Conflict, match="cannot compact a chat that is running"):
                await p.chats.compact(chat)
            with pytest.raises(Conflict, match="cannot clear a chat that is running"):
                await p.chats.clear(chat)
            await p.chats.send(chat, "Second")
            hold.released.set()
            await p.until(chat, "waiting")
            assert "A summary" in texts(model.prompts[-1])[0]
            assert (await p.chats.get(chat)).report == "Two"

    asyncio.run(scenario())


def test_an_interrupted_compaction_leaves_the_history(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(Text("A summary"))
        model = ScriptedModel([[Text("One")], hold, [Text("Two")]])
        async with open_chats(tmp_path, {"parent": model}) as p:
            chat = (await p.chats.create(prompt="First")).id
            await p.until(chat, "waiting")
            await p.chats.compact(chat)
            await hold.reached.wait()
            await p.chats.interrupt(chat)
            await p.until(chat, "waiting")
            assert (await p.chats.steps(chat))[-1].status == "interrupted"
            await p.chats.send(chat, "Second")
            await p.until(chat, "waiting")
            assert texts(model.prompts[-1])[0] == "First"

    asyncio.run(scenario())


def test_a_cleared_chat_begins_anew_for_its_model(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[call("echo", a=1)], [Text("One")], [Text("Two")]])
        async with open_chats(tmp_path, {"parent": model}) as p:
            empty = await p.caller()
            await p.chats.clear(empty)
            assert await p.chats.steps(empty) == ()
            with pytest.raises(BadChatRequest, match="the chat has no messages"):
                await p.chats.compact(empty)
            chat = (await p.chats.create(prompt="First")).id
            await p.until(chat, "waiting")
            await p.chats.clear(chat)
            (_, step) = await p.chats.steps(chat)
            assert step.title == "Checkpoint at a person's request, without a summary"
            await p.chats.send(chat, "Second")
            await p.until(chat, "waiting")
            assert texts(model.prompts[-1]) == ["Second"]
            assert len(await p.chats.messages(chat)) == 6
            assert not await p.chats.changed_turns(chat)

    asyncio.run(scenario())
