"""What a step's action was aimed at is stored with the step, without secrets."""

import asyncio
from pathlib import Path

from deskhand.tools.conversation.conversation import Text, ToolCall
from deskhand.tools.conversation.step_target import StepTarget
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.store import steps
from tests.tools.agents.chats.fakes import ScriptedModel, call, open_chats

SAVE = StepTarget("button", "Save", ("Orders",), (10, 20), (1280, 720), b"png", (5, 6))
KEYS = StepTarget("entry", "Customer", screen=(1280, 720))


class AimTool:
    """Reports the targets of an action."""

    spec = ToolSpec("aim", "Aim.", {"type": "object"})

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        targets = {"drag": (SAVE, KEYS), "half": (None, KEYS), "none": (None,)}
        return ToolOutcome({}, targets=targets[arguments["which"]])


def test_targets_are_rows_of_their_step(tmp_path: Path) -> None:
    async def scenario() -> None:
        kinds = ("drag", "half", "none")
        blocks: list[list[Text | ToolCall]] = [[call("aim", which=one)] for one in kinds]
        model = ScriptedModel([*blocks, []])
        async with open_chats(tmp_path, {"parent": model}, tools=(AimTool(),)) as p:
            chat = await p.chats.create(prompt="Go", title="Targets")
            await p.until(chat.id, "waiting")
            done = await p.store.read(lambda db: steps.of_turn(db, chat.id, 1))
            found = await p.store.read(lambda db: steps.targets_of_turn(db, chat.id, 1))
            assert [found.get(one.id) for one in done] == [{0: SAVE, 1: KEYS}, {1: KEYS}, None]
            await p.chats.delete(chat.id)
            assert await p.store.read(lambda db: steps.targets_of_turn(db, chat.id, 1)) == {}

    asyncio.run(scenario())
