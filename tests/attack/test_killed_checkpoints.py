"""A program that is killed during a checkpoint: nothing is lost, and nothing happens twice."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.checkpoints.policy import KEPT_PICTURES
from deskhand.tools.conversation.message_pictures import picture_count
from deskhand.tools.store import messages, steps
from deskhand.tools.store.schema import CheckpointRow
from tests.tools.agents.chats.checkpoint_process import (
    CALLS,
    MODELS,
    LargeRequests,
    SummaryWriter,
    is_summary,
)
from tests.tools.agents.chats.fakes import FakeDesktop, FakeMachines, open_chats

pytestmark = [pytest.mark.attack, pytest.mark.slow("a process that imports and runs the chats")]


def killed_at(place: str, folder: Path, name: str) -> str:
    """Return the chat of a process that was killed there."""
    program = "tests.tools.agents.chats.checkpoint_process"
    with subprocess.Popen(
        [sys.executable, "-m", program, str(folder), place, name], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        chat_id = process.stdout.readline().strip()
        process.kill()
    assert chat_id
    return chat_id


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("place", "summaries", "shown"),
    [("asked", 1, ["interrupted", "done"]), ("stored", 0, ["done"])],
)
def test_the_next_program_makes_the_checkpoint_or_goes_on_after_it(
    tmp_path: Path, place: str, summaries: int, shown: list[str], name: str
) -> None:
    chat_id = killed_at(place, tmp_path, name)
    model = MODELS[name]()

    async def rows(session: AsyncSession) -> int:
        return await session.scalar(select(func.count()).select_from(CheckpointRow)) or 0

    async def scenario() -> None:
        machines = FakeMachines({"desktop-1": FakeDesktop()})
        async with open_chats(tmp_path, {name: model}, machines=machines) as opened:  # type: ignore[dict-item]
            await opened.until(chat_id, "waiting")
            history = await opened.store.read(lambda s: messages.history(s, chat_id))
            views = await opened.store.read(lambda s: steps.views(s, chat_id))
            assert await opened.store.read(rows) == 1
        assert len(model.compacted) == summaries
        assert [view.status for view in views if view.tool == "checkpoint"] == shown
        # One more reply where only that shows how large a request is.
        *again, prompt = model.prompts
        assert len(again) == (MODELS[name] is LargeRequests and place == "asked")
        calls = CALLS * (1 + len(again))
        assert sum(view.action == "screenshot" for view in views) == calls
        # All pictures are in the history still, and the newest of them at most in the request.
        assert sum(map(picture_count, history)) == calls
        assert is_summary(prompt.messages[0].content[0])
        kept = KEPT_PICTURES if issubclass(MODELS[name], SummaryWriter) else 0
        assert sum(map(picture_count, prompt.messages)) <= kept

    asyncio.run(scenario())
