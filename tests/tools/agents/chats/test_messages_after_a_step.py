import asyncio
from pathlib import Path

from deskhand.tools.conversation.conversation import Text
from tests.tools.agents.chats.fakes import Hold, ScriptedModel, call, open_chats, report


def test_a_message_is_read_after_the_current_step(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(call("echo", say="hi"))
        model = ScriptedModel([hold, [Text("One")], [Text("Two")]])
        async with open_chats(tmp_path, {"parent": model}) as p:
            chat = await p.chats.create(prompt="1")
            await hold.reached.wait()
            await p.chats.send(chat.id, "For the next turn.")
            await p.chats.send(chat.id, "The blue one.", after_step=True)
            assert (await p.chats.get(chat.id)).queue_length == 2
            hold.released.set()
            await p.until(chat.id, "waiting")
            view = await p.chats.get(chat.id)
            assert (view.report, view.turn, view.queue_length) == ("Two", 2, 0)
            last = model.prompts[1].messages[-1]
            assert (last.role, last.content[-1]) == ("user", Text("The blue one."))

    asyncio.run(scenario())


def test_a_message_that_comes_too_late_for_the_turn_begins_the_next(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("One"))
        model = ScriptedModel([hold, [report("Two")]])
        async with open_chats(tmp_path, {"parent": model}) as p:
            chat = await p.chats.create(prompt="1")
            await hold.reached.wait()
            await p.chats.send(chat.id, "And then?", after_step=True)
            hold.released.set()
            await p.until(chat.id, "waiting")
            view = await p.chats.get(chat.id)
            assert (view.turn, view.queue_length) == (2, 0)
            assert len(model.prompts) == 2

    asyncio.run(scenario())
