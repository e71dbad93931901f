"""Pictures of a turn whose control plane is killed: on the others nothing of them is missing."""

import asyncio
import base64
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from deskhand.tools.agents.providers.anthropic import wire
from deskhand.tools.agents.providers.merged_messages import merged, picture_ids
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.kit.support.spec import Json
from deskhand.tools.store.rows import planes
from deskhand.tools.store.tables.held_pictures import held_ids
from tests.cluster.planes import Plane, plane
from tests.cluster.playing import LIMIT
from tests.tools.agents.chats.fakes import (
    Block,
    FakeDesktop,
    FakeMachines,
    Hold,
    ScriptedModel,
    act,
    report,
)
from tests.tools.store.packs.places import bucket, places
from tests.tools.store.s3 import S3Requests, make_bucket, s3_service
from tests.tools.store.test_upload_queue import FakeDepot

pytestmark = pytest.mark.cluster

STEPS = 5


class NumberedDesktop(FakeDesktop):
    """A desktop whose screen changes with each action."""

    async def _act(self, body: Json, call_id: str) -> Json:
        shown = await super()._act(body, call_id)
        if "screenshot_data" in shown:
            picture = f"picture {self.frames}".encode() * 1000
            shown["screenshot_data"] = base64.b64encode(picture).decode()
        return shown


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, str], Path]]:
    log = tmp_path_factory.mktemp("s3") / "log"
    with s3_service(log) as environment:
        make_bucket(environment, "films")
        yield environment, log


async def body(of: Plane, prompt: Prompt) -> bytes:
    """Return the request of a prompt, with the pictures as a control plane reads them."""
    messages = merged(prompt.messages)
    pictures = {one: await of.files.load(one) for one in picture_ids(messages)}
    assert len(pictures) >= STEPS
    parts = [wire.message_part(one, pictures) for one in messages]
    return wire.encoded(prompt, parts, drop_block=True)


async def held(of: Plane) -> set[str]:
    """Return the pictures whose bytes are rows."""
    return await of.store.read(held_ids)


async def packed(of: Plane) -> None:
    """Return when no bytes are rows any more."""
    async with asyncio.timeout(LIMIT):
        while True:
            if not await held(of):
                return
            await asyncio.sleep(0.05)


def test_the_one_that_takes_a_killed_ones_chat_over_has_and_packs_its_pictures(
    database: str, service: tuple[dict[str, str], Path], tmp_path: Path
) -> None:
    environment, log = service
    objects = bucket(environment, "killed")
    hold = Hold(report("Never"))
    clicks: list[list[Block]] = [[act("left_click", coordinate=[n, 2])] for n in range(STEPS)]
    ones = ScriptedModel([*clicks, hold])
    twos = ScriptedModel([*clicks, [report("Taken over.")]])
    machines = FakeMachines({"desktop-1": NumberedDesktop()})

    @asynccontextmanager
    async def opened(name: str, **models: ScriptedModel) -> AsyncIterator[Plane]:
        async with plane(
            *(database, tmp_path, name, machines, models), ahead=0.0, objects=objects
        ) as made:
            yield made

    async def scenario(stack: AsyncExitStack) -> None:
        one = await stack.enter_async_context(opened("one", child=ones))
        two = await stack.enter_async_context(opened("two", child=twos))
        third = await stack.enter_async_context(opened("three"))
        caller = await one.caller()
        spawned = await one.tool("spawn_computer_use_agent", caller, prompt="Go")
        chat_id = spawned["chat_id"]
        await hold.reached.wait()
        before = {id: await one.files.load(id) for id in await held(one)}
        assert len(set(before.values())) == len(before) >= STEPS
        asked = await body(one, ones.prompts[-1])
        # Killed, with its disk.
        assert one.moving is not None
        one.moving.cancel()
        shutil.rmtree(tmp_path / "one")
        await two.store.write(partial(planes.leave, plane="one"))
        # While they are held, any other one has them.
        assert {id: await third.files.load(id) for id in before} == before
        assert await two.driver.beat() == (chat_id,)
        result = await two.tool("wait_agent", caller, chat_id=chat_id)
        assert result["report"] == "Taken over."
        assert await body(two, twos.prompts[0]) == asked
        await packed(two)
        steps = await two.chats.steps(chat_id)
        ids = {step.screenshot_file_id for step in steps if step.screenshot_file_id}
        assert len(ids) == 2 * len(before)
        assert before.keys() < ids
        puts = [path for path in S3Requests(log).of("PUT") if path.endswith(".pack")]
        assert 1 <= len(puts) <= 3
        names = {name.rpartition("/")[2] for name in await objects.names()}
        assert {name for name in names if name.endswith(".pack")} == {
            path.rpartition("/")[2] for path in puts
        }
        last = await body(two, twos.prompts[-1])
        shutil.rmtree(tmp_path / "two")
        assert {id: await third.files.load(id) for id in before} == before
        assert await body(third, twos.prompts[-1]) == last
        hold.released.set()
        await one.driver.over(chat_id)

    async def main() -> None:
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(LIMIT):
                await scenario(stack)

    asyncio.run(main())


def test_of_many_that_adopt_at_once_one_gets_all(database: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with (
            asyncio.timeout(LIMIT),
            places(tmp_path, *[depot] * 6, url=database, shared=True) as (first, *others),
        ):
            for _ in range(10):
                await first.beat()
                made = await first.pictures(20)
                await first.end()
                await asyncio.gather(*(one.queue.move() for one in others))
                # One pack has all, and no row is left.
                assert len(depot.puts) == len(depot.held) == 1
                assert await first.held() == {}
                for one in others:
                    assert [await one.files.load(id) for id in made] == list(made.values())
                depot.puts.clear()
                depot.held.clear()

    asyncio.run(scenario())
