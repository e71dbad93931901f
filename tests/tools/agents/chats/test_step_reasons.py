import asyncio
from dataclasses import replace
from pathlib import Path

from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.store import steps
from tests.tools.agents.chats.fakes import ScriptedModel, call, open_chats


class LookTool:
    """Returns nothing."""

    spec = ToolSpec("look", "Look.", {"type": "object"})

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        return ToolOutcome({})


def test_a_step_has_the_reason_that_the_model_gave_for_its_call(tmp_path: Path) -> None:
    async def scenario() -> None:
        first = replace(call("look"), reason="I want to see the form.")
        model = ScriptedModel([[first, call("look")], []])
        async with open_chats(tmp_path, {"parent": model}, tools=(LookTool(),)) as p:
            chat = await p.chats.create(prompt="Go", title="Reasons")
            await p.until(chat.id, "waiting")
            done = await p.store.read(lambda db: steps.of_turn(db, chat.id, 1))
            reasons = [one.details.get("reason") for one in done]
            assert reasons == ["I want to see the form.", None]

    asyncio.run(scenario())
