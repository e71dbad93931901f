"""Marks on results in the history of a chat, and their absence in chats of earlier versions."""

import asyncio
from pathlib import Path

import pytest

from deskhand.tools.agents.chats.prompt_head import PromptHead
from deskhand.tools.conversation.conversation import ToolResult
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.store import messages, steps
from tests.tools.agents.chats.fakes import ScriptedModel, call, open_chats, result_text

PLAIN = '{"output": "hello"}'
MARKED = f"[untrusted: command]\n{PLAIN}"


class CommandTool:
    """Returns the output of a command."""

    spec = ToolSpec("execute", "Run.", {"type": "object"})

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        return ToolOutcome({"output": "hello"})


@pytest.mark.parametrize(("old", "text"), [(False, MARKED), (True, PLAIN)])
def test_a_chat_gets_marks_if_its_prompt_explains_them(
    tmp_path: Path, old: bool, text: str
) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[call("execute", command="echo hello")], []])
        async with open_chats(tmp_path, {"parent": model}, tools=(CommandTool(),)) as p:
            chat = await p.chats.create(prompt=None, title="Marks")
            if old:
                head = PromptHead("An earlier prompt.", (CommandTool.spec,)).to_json()
                await p.store.write(lambda db: messages.fixed_head(db, chat.id, head, 1.0))
            await p.chats.send(chat.id, "Go")
            await p.until(chat.id, "waiting")
            (result,) = [
                block
                for message in model.prompts[-1].messages
                for block in message.content
                if isinstance(block, ToolResult)
            ]
            assert result_text(result) == text
            # The step has what the tool returned, for people and for callers that ask again.
            (step,) = await p.store.read(lambda db: steps.of_turn(db, chat.id, 1))
            assert step.result is not None
            assert step.result["content"] == [{"type": "text", "text": PLAIN}]

    asyncio.run(scenario())
