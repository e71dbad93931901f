"""Text that a model is writing, on two control planes."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from deskhand.tools.cluster.member import Member
from deskhand.tools.conversation.conversation import Text
from tests.cluster.planes import Plane, plane
from tests.cluster.playing import LIMIT
from tests.tools.agents.chats.fakes import FakeMachines, ScriptedModel
from tests.tools.cluster.certified import Cluster

pytestmark = pytest.mark.cluster


async def _connected(*planes: Plane) -> None:
    """Return when each gets the events of all others."""
    for one in planes:
        assert one.moments is not None
        while one.moments.connections < len(planes) - 1:  # noqa: ASYNC110 - as many as it says
            await asyncio.sleep(0.05)


def test_each_shows_the_text_that_is_written_on_another_one(database: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        cluster, machines = Cluster(tmp_path / "authority"), FakeMachines()
        async with asyncio.timeout(LIMIT), AsyncExitStack() as stack:
            planes = []
            for name in ("one", "two"):
                cluster.issue(Member("plane", name))
                models = {"parent": ScriptedModel([[Text(f"Hello of {name}.")]])}
                opening = plane(
                    *(database, tmp_path, name, machines, models),
                    certificates=cluster.folder / name,
                )
                planes.append(await stack.enter_async_context(opening))
            await _connected(*planes)
            for writing, showing, name in zip(planes, planes[::-1], ("one", "two"), strict=True):
                chat = await writing.chats.create(prompt="Say hello")
                shown = await showing.event("text", chat.id)
                assert shown.data == {"text": f"Hello of {name}."}
                await showing.event("message", chat.id)

    asyncio.run(scenario())
