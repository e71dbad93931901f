import asyncio
from pathlib import Path

import pytest

from deskhand.tools.conversation.errors import BadChatRequest, IllegalMove
from tests.tools.agents.chats.fakes import Hold, ScriptedModel, act, call, open_chats, report

ASKS = [call("request_human", reason="Please sign in.")]


def test_an_agent_asks_a_person_and_goes_on_with_the_answer(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([list(ASKS), [report("Signed in")]])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            spawned = await p.tool("spawn_computer_use_agent", caller, prompt="Sign in")
            chat_id = spawned["chat_id"]
            result = await p.tool("wait_agent", caller, chat_id=chat_id)
            assert result["status"] == "requires_action"
            assert result["requires_action"] == {"kind": "human", "question": "Please sign in."}
            assert "Please sign in." in result["report"]
            assert "timed_out" not in result
            with pytest.raises(BadChatRequest):
                await p.chats.answer(chat_id, "  ")
            await p.chats.answer(chat_id, " Done. ")
            assert (await p.chats.get(chat_id)).requires_action is None
            ended = await p.tool("wait_agent", caller, chat_id=chat_id)
            assert (ended["report"], ended["recording_status"]) == ("Signed in", "stored")
            step = (await p.chats.steps(chat_id))[0]
            assert (step.tool, step.status) == ("request_human", "done")
            with pytest.raises(IllegalMove):
                await p.chats.answer(chat_id, "Again")

    asyncio.run(scenario())


def test_stopping_takes_the_question_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([list(ASKS)])}) as p:
            chat = await p.chats.create(prompt="Sign in", mode="computer_use")
            await p.until(chat.id, "requires_action")
            assert await p.chats.interrupt(chat.id)
            await p.until(chat.id, "waiting")
            assert [s.status for s in await p.chats.steps(chat.id)] == ["interrupted"]

    asyncio.run(scenario())


def test_a_message_that_interrupts_replaces_the_answer(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([list(ASKS), [report("Something else")]])
        async with open_chats(tmp_path, {"child": model}) as p:
            chat = await p.chats.create(prompt="Sign in", mode="computer_use")
            await p.until(chat.id, "requires_action")
            assert await p.chats.send(chat.id, "Leave it", interrupt=True)
            await p.until(chat.id, "waiting")
            assert (await p.chats.get(chat.id)).report == "Something else"

    asyncio.run(scenario())


def test_a_question_that_a_restart_cut_off_is_reported_to_the_model(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([list(ASKS)])}) as first:
            chat = await first.chats.create(prompt="Sign in", mode="computer_use")
            await first.until(chat.id, "requires_action")
            machines = first.machines
        again = ScriptedModel([[report("Gave up")]])
        async with open_chats(tmp_path, {"child": again}, machines=machines) as second:
            await second.until(chat.id, "waiting")
            assert (await second.chats.get(chat.id)).report == "Gave up"

    asyncio.run(scenario())


def test_a_chat_at_rest_cannot_ask(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            assert "request_human" not in {spec.name for spec in p.chats.tool_specs()}

    asyncio.run(scenario())


def test_a_blank_question_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[call("request_human", reason=" ")], [report("Never mind")]])
        async with open_chats(tmp_path, {"child": model}) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await p.until(chat.id, "waiting")
            assert (await p.chats.steps(chat.id))[0].error == "reason is required"

    asyncio.run(scenario())


def test_stopping_everything_stops_all_that_is_at_work(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Never"))
        models = {"child": ScriptedModel([[act("screenshot")], list(ASKS)])}
        async with open_chats(tmp_path, {**models, "parent": ScriptedModel([hold])}) as p:
            asking = await p.chats.create(prompt="Sign in", mode="computer_use")
            await p.until(asking.id, "requires_action")
            busy = await p.chats.create(prompt="Think")
            await hold.reached.wait()
            assert await p.chats.stop_all() == 2
            for chat in (asking, busy):
                await p.until(chat.id, "waiting")
            assert await p.chats.stop_all() == 0

    asyncio.run(scenario())
