import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text

from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult
from deskhand.tools.conversation.errors import BadChatRequest, IllegalMove, QuestionClosed
from deskhand.tools.store.errors import UnknownRow
from tests.tools.agents.chats.fakes import (
    Hold,
    OpenChats,
    ScriptedModel,
    act,
    after_a_kill,
    call,
    open_chats,
    report,
)

ASKS = [call("request_human", reason="Please sign in.")]
ASKS_AGAIN = [call("request_human", reason="And again.")]


def results_in(prompt: Prompt) -> list[Text | Image]:
    """Return what the newest message has as results of calls."""
    blocks = prompt.messages[-1].content
    return [one for block in blocks if isinstance(block, ToolResult) for one in block.content]


def test_an_agent_asks_a_person_and_goes_on_with_the_answer(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([list(ASKS), [report("Signed in")]])
        async with open_chats(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            spawned = await p.tool("spawn_computer_use_agent", caller, prompt="Sign in")
            chat_id = spawned["chat_id"]
            result = await p.tool("wait_agent", caller, chat_id=chat_id)
            assert result["status"] == "requires_action"
            asked = result["requires_action"]
            assert (asked["kind"], asked["question"]) == ("human", "Please sign in.")
            assert (asked["deadline"], asked["call"]) == (None, None)
            assert "Please sign in." in result["report"]
            assert "timed_out" not in result
            with pytest.raises(BadChatRequest):
                await p.chats.answer(chat_id, "  ")
            with pytest.raises(IllegalMove):
                await p.chats.answer(caller, "Not asked")
            await p.chats.answer(chat_id, " Done. ")
            assert (await p.chats.get(chat_id)).requires_action is None
            ended = await p.tool("wait_agent", caller, chat_id=chat_id)
            assert (ended["report"], ended["recording_status"]) == ("Signed in", "stored")
            step = (await p.chats.steps(chat_id))[0]
            assert (step.tool, step.status) == ("request_human", "done")
            with pytest.raises(QuestionClosed, match=r"already: Done\.") as late:
                await p.chats.answer(chat_id, "Again")
            assert (late.value.answered_by, late.value.state) == ("owner", "answered")

    asyncio.run(scenario())


def test_stopping_takes_the_question_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([list(ASKS)])}) as p:
            chat = await p.chats.create(prompt="Sign in", mode="computer_use")
            await p.until(chat.id, "requires_action")
            assert await p.chats.interrupt(chat.id)
            await p.until(chat.id, "waiting")
            assert [s.status for s in await p.chats.steps(chat.id)] == ["interrupted"]
            with pytest.raises(QuestionClosed, match="is withdrawn"):
                await p.chats.answer(chat.id, "Done")

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


def test_a_question_outlives_the_program(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[call("list_mcp_tools"), *ASKS]])
        async with open_chats(tmp_path, {"child": model}) as first:
            chat = await first.chats.create(prompt="Sign in", mode="computer_use")
            await first.until(chat.id, "requires_action")
            asked = (await first.chats.get(chat.id)).requires_action
            machines = first.machines
        again = ScriptedModel([[report("Signed in")]])
        async with open_chats(tmp_path, {"child": again}, machines=machines) as second:
            shown = await second.chats.get(chat.id)
            assert (shown.state, shown.requires_action) == ("requires_action", asked)
            await second.chats.answer(chat.id, "Done")
            await second.until(chat.id, "waiting")
            assert (await second.chats.get(chat.id)).report == "Signed in"
            assert [s.status for s in await second.chats.steps(chat.id)] == ["failed", "done"]
        (prompt,) = again.prompts
        texts = [one.text for one in results_in(prompt) if isinstance(one, Text)]
        assert [len(texts), texts[1]] == [2, '{"answer": "Done"}']

    asyncio.run(scenario())


def test_a_question_outlives_a_kill_and_its_answer_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        models = {"child": ScriptedModel([list(ASKS)])}
        async with open_chats(tmp_path, models) as killed:
            chat = await killed.chats.create(prompt="Sign in", mode="computer_use")
            await killed.until(chat.id, "requires_action")
            again = {"child": ScriptedModel([[report("Signed in")]])}
            async with after_a_kill(killed, again) as second:
                await second.chats.answer(chat.id, "Done")
                await second.until(chat.id, "waiting")
                assert (await second.chats.get(chat.id)).report == "Signed in"
                assert [s.status for s in await second.chats.steps(chat.id)] == ["done"]

    asyncio.run(scenario())


def test_a_question_of_an_earlier_version_is_asked_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([list(ASKS)])}) as killed:
            chat = await killed.chats.create(prompt="Sign in", mode="computer_use")
            await killed.until(chat.id, "requires_action")
            await killed.store.write(lambda s: s.execute(text("DELETE FROM questions")))
            again = {"child": ScriptedModel([[report("Gave up")]])}
            async with after_a_kill(killed, again) as second:
                await second.until(chat.id, "waiting")
                assert (await second.chats.get(chat.id)).report == "Gave up"
                assert [s.status for s in await second.chats.steps(chat.id)] == ["interrupted"]

    asyncio.run(scenario())


def test_of_two_answers_at_once_one_counts(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([list(ASKS), [report("Signed in")]])
        async with open_chats(tmp_path, {"child": model}) as p:
            chat = await p.chats.create(prompt="Sign in", mode="computer_use")
            await p.until(chat.id, "requires_action")
            answers = [p.chats.answer(chat.id, name, by=name) for name in ("one", "two")]
            found = await asyncio.gather(*answers, return_exceptions=True)
            (refused,) = [one for one in found if isinstance(one, Exception)]
            assert isinstance(refused, QuestionClosed)
            await p.until(chat.id, "waiting")
            assert refused.answer == refused.answered_by
            (result,) = [one for one in results_in(model.prompts[1]) if isinstance(one, Text)]
            assert result.text == f'{{"answer": "{refused.answer}"}}'

    asyncio.run(scenario())


def test_a_question_is_named_by_its_id(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([list(ASKS), list(ASKS_AGAIN), [report("Signed in")]])
        async with open_chats(tmp_path, {"child": model}) as p:
            chat = await p.chats.create(prompt="Sign in", mode="computer_use")
            with pytest.raises(UnknownRow):
                await p.chats.answer(chat.id, "Too early", question="unknown")
            await p.until(chat.id, "requires_action")
            first = ((await p.chats.get(chat.id)).requires_action or {})["id"]
            await p.chats.answer(chat.id, "Done", question=first)
            await p.asked(chat.id, "And again.")
            # An answer to what a page still shows is none to the next question.
            with pytest.raises(QuestionClosed, match="already: Done"):
                await p.chats.answer(chat.id, "Done", question=first)
            other = await p.caller()
            with pytest.raises(UnknownRow):
                await p.chats.answer(other, "Done", question=first)
            await p.chats.answer(chat.id, "Done")
            await p.until(chat.id, "waiting")

    asyncio.run(scenario())


def test_a_deleted_chat_takes_its_question_with_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": ScriptedModel([list(ASKS)])}) as p:
            chat = await p.chats.create(prompt="Sign in", mode="computer_use")
            await p.until(chat.id, "requires_action")
            await p.chats.delete(chat.id)
            with pytest.raises(UnknownRow):
                await p.chats.answer(chat.id, "Done")
            left = await p.store.read(lambda s: s.scalar(text("SELECT count(*) FROM questions")))
            assert left == 0

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
            assert await p.chats.stop_all("Ada") == 2
            for chat in (asking, busy):
                await p.until(chat.id, "waiting")
                done = await p.chats.activities.of(chat.id, (), conversation=True)
                assert [one.words for one in done] == ["Ada stopped the agent"]
            assert await p.chats.stop_all() == 0

    asyncio.run(scenario())


PAUSE = "/api/v0/desktop/pause"
IMPATIENT = ChatSettings("http://plane", desktops=1, question_place_seconds=0.0, action_seconds=0.0)


def pauses(p: OpenChats, desktop_id: str) -> list[float]:
    """Return the durations of the pauses of a desktop; 0 is the end of one."""
    requests = p.machines.desktops[desktop_id].requests
    return [body["seconds"] for _, path, body in requests if path == PAUSE]


def test_a_chat_that_waits_gives_its_place_back_and_queues_when_it_is_answered(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        hold, order = Hold(report("Other")), []

        async def goes_on(_: Prompt) -> list[Text | ToolCall]:
            order.append("goes on")
            return [report("Signed in")]

        models = {"one": ScriptedModel([list(ASKS), goes_on]), "two": ScriptedModel([hold])}
        async with open_chats(tmp_path, models, settings=IMPATIENT) as p:
            one = await p.chats.create(prompt="Go", mode="computer_use", model="one")
            await p.until(one.id, "requires_action")
            two = await p.chats.create(prompt="Go", mode="computer_use", model="two")
            await hold.reached.wait()
            assert (await p.chats.get(two.id)).desktop_id == "desktop-2"
            assert pauses(p, "desktop-1") == [90.0]
            await p.chats.answer(one.id, "Done")
            assert (await p.chats.get(one.id)).state == "running"
            # It stands still until it has a place.
            assert pauses(p, "desktop-1") == [90.0]
            order.append("free")
            hold.released.set()
            await p.until(one.id, "waiting")
            assert order == ["free", "goes on"]
            assert pauses(p, "desktop-1") == [90.0, 0.0]
            assert (await p.chats.get(one.id)).report == "Signed in"
            assert p.machines.acquired == [one.id, two.id]
            assert p.machines.released == ["desktop-2"]

    asyncio.run(scenario())


def test_a_chat_that_is_stopped_does_not_queue(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Other"))
        models = {"one": ScriptedModel([list(ASKS)]), "two": ScriptedModel([hold])}
        async with open_chats(tmp_path, models, settings=IMPATIENT) as p:
            one = await p.chats.create(prompt="Go", mode="computer_use", model="one")
            await p.until(one.id, "requires_action")
            await p.chats.create(prompt="Go", mode="computer_use", model="two")
            await hold.reached.wait()
            await p.chats.interrupt(one.id)
            await p.until(one.id, "waiting")
            assert pauses(p, "desktop-1") == [90.0, 0.0]
            hold.released.set()

    asyncio.run(scenario())


def test_a_wait_for_an_answer_is_not_charged_to_the_budget(tmp_path: Path) -> None:
    async def scenario() -> None:
        time = [1_800_000_000.0]
        child = ScriptedModel([list(ASKS), [act("screenshot")], [report("Signed in")]])
        async with open_chats(
            tmp_path, {"child": child}, now=lambda: time[0], monotonic=lambda: time[0]
        ) as p:
            caller = await p.caller()
            spawned = await p.tool(
                "spawn_computer_use_agent", caller, prompt="Go", budget={"minutes": 1}
            )
            await p.until(spawned["chat_id"], "requires_action")
            time[0] += 3600.0
            await p.chats.answer(spawned["chat_id"], "Done")
            ended = await p.tool("wait_agent", caller, chat_id=spawned["chat_id"])
            assert (ended["report"], ended["outcome"]) == ("Signed in", "done")

    asyncio.run(scenario())
