import asyncio
from typing import Any

import pytest

from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless
from tests.tools.control_plane.fakes import LIMIT


async def never() -> None:
    await asyncio.Event().wait()


def test_work_that_ends_first_gives_its_result() -> None:
    async def scenario() -> None:
        async def work() -> int:
            return 7

        assert await run_unless(work(), never()) == 7

    asyncio.run(scenario())


def test_work_that_fails_raises_its_own_error() -> None:
    async def scenario() -> None:
        async def work() -> None:
            raise KeyError("x")

        with pytest.raises(KeyError):
            await run_unless(work(), never())

    asyncio.run(scenario())


def test_work_is_cancelled_and_cleaned_up_when_the_client_leaves() -> None:
    async def scenario() -> None:
        leaves, cleaned = asyncio.Event(), asyncio.Event()

        async def gone() -> None:
            await leaves.wait()

        async def work() -> None:
            try:
                leaves.set()
                await never()
            finally:
                await asyncio.sleep(0)
                cleaned.set()

        async with asyncio.timeout(LIMIT):
            with pytest.raises(ClientGone):
                await run_unless(work(), gone())
        assert cleaned.is_set()

    asyncio.run(scenario())


def test_an_error_of_the_watch_ends_the_work() -> None:
    async def scenario() -> None:
        async def gone() -> None:
            raise ConnectionError

        with pytest.raises(ConnectionError):
            await run_unless(never(), gone())

    asyncio.run(scenario())


def test_cancelling_the_whole_cancels_the_work() -> None:
    async def scenario() -> None:
        begun, ended = asyncio.Event(), asyncio.Event()

        async def work() -> None:
            try:
                begun.set()
                await never()
            finally:
                ended.set()

        task = asyncio.create_task(run_unless(work(), never()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    asyncio.run(scenario())


def test_a_client_has_left_when_the_server_says_so() -> None:
    async def scenario() -> None:
        messages = [{"type": "http.disconnect"}, {"type": "http.request"}]

        async def receive() -> dict[str, Any]:
            return messages.pop()

        await disconnected(receive)
        assert messages == []

    asyncio.run(scenario())
