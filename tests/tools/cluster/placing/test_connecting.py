import asyncio
from collections.abc import Awaitable, Callable

import pytest

from deskhand.tools.cluster.placing.connecting import Connecting


def play(scenario: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(60):
            await scenario()

    asyncio.run(main())


def test_a_request_is_cancelled_after_it_has_connected_however_often_it_is_asked_to() -> None:
    async def scenario() -> None:
        connecting, seen = Connecting(), list[str]()
        begun, ends = asyncio.Event(), asyncio.Event()

        async def request() -> None:
            await connecting.trace("connection.connect_tcp.started", {})
            await connecting.trace("connection.start_tls.started", {})
            begun.set()
            await ends.wait()
            seen.append("handshake")
            await connecting.trace("connection.start_tls.complete", {})
            await asyncio.Event().wait()

        task = asyncio.create_task(connecting.keep(request()))
        await begun.wait()
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert not task.done()
        ends.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == ["handshake"]

    play(scenario)


def test_a_request_that_does_not_connect_is_cancelled_at_once() -> None:
    async def scenario() -> None:
        task = asyncio.create_task(Connecting().keep(asyncio.Event().wait()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    play(scenario)


def test_results_and_errors_are_those_of_the_request() -> None:
    async def result() -> int:
        return 7

    async def failure() -> int:
        raise OSError("refused")

    async def scenario() -> None:
        assert await Connecting().keep(result()) == 7
        with pytest.raises(OSError, match="refused"):
            await Connecting().keep(failure())

    play(scenario)
