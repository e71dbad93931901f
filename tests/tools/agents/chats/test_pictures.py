import asyncio
from pathlib import Path

from deskhand.tools.conversation.conversation import Image, ToolResult
from tests.tools.agents.chats.fakes import ScriptedModel, act, open_chats, report


def test_five_calls_of_one_reply_return_one_picture(tmp_path: Path) -> None:
    async def scenario() -> None:
        five = [act("left_click", coordinate=[n, n]) for n in range(4)]
        model = ScriptedModel([[*five, act("key", text="Return")], [report("Done")]])
        async with open_chats(tmp_path, {"child": model}) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await p.until(chat.id, "waiting")
            results = [
                b for b in model.prompts[1].messages[-1].content if isinstance(b, ToolResult)
            ]
            shown = [sum(isinstance(b, Image) for b in result.content) for result in results]
            assert shown == [0, 0, 0, 0, 1]
            assert "50 % of the screen changed" in str(results[0].content[0])

    asyncio.run(scenario())
