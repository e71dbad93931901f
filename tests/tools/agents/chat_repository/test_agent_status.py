import asyncio
from pathlib import Path
from typing import Any

from tests.tools.agents.chats.fakes import Hold, ScriptedModel, act, open_chats, report


def message(chat_id: str, text: Any = "Reading", dropped: Any = 0) -> dict[str, Any]:
    return {"chat_id": chat_id, "text": text, "dropped": dropped}


def test_a_message_is_kept_with_its_chat_and_published(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = Hold(report("Done"))
        models = {"child": ScriptedModel([[act("screenshot")], hold])}
        async with open_chats(tmp_path, models) as p:
            chat = (await p.chats.create(prompt="Go", mode="computer_use")).id
            await hold.reached.wait()
            with p.chats.events(chat) as news:
                await p.chats.publish_status("desktop-1", message(chat, "Reading\n3 of 4", 2))
                event = await anext(news)
            kept = (await p.chats.get(chat)).status_message
            assert kept is not None
            assert (kept["text"], kept["dropped"]) == ("Reading 3 of 4", 2)
            assert event.data["status_message"] == kept
            hold.released.set()
            await p.until(chat, "waiting")
            assert (await p.chats.get(chat)).status_message == kept

    asyncio.run(scenario())


def test_a_message_of_another_desktop_or_chat_is_ignored(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            caller = await p.caller()
            await p.tool("echo", caller, a=1)
            for desktop, said in (
                ("other", message(caller)),
                ("desktop-1", message("nothing")),
                ("desktop-1", message(caller, " ")),
                ("desktop-1", {}),
            ):
                await p.chats.publish_status(desktop, said)
            assert (await p.chats.get(caller)).status_message is None
            await p.chats.publish_status("desktop-1", message(caller, "x" * 1000, "many"))
            kept = (await p.chats.get(caller)).status_message
            assert kept is not None
            assert (len(kept["text"]), kept["dropped"]) == (200, 0)

    asyncio.run(scenario())
