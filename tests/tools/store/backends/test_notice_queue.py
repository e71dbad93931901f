import asyncio
from collections.abc import Awaitable, Callable

from deskhand.tools.store.backends.notice_queue import NoticeQueue
from deskhand.tools.store.backends.notices import Notice, read_payload
from tests.virtual_time import play_virtually

STATUS, STEP = Notice("status", "a"), Notice("step", "a", "s")


def _play(scenario: Callable[[NoticeQueue], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(20):
            await scenario(NoticeQueue("one", 0.0))

    asyncio.run(main())


async def _notices(queue: NoticeQueue) -> list[Notice]:
    return [notice for payload in await queue.waiting() for notice in read_payload(payload)[1]]


def test_what_changes_again_is_sent_once_and_last() -> None:
    async def scenario(queue: NoticeQueue) -> None:
        for notice in (STATUS, STEP, STATUS):
            queue.add(notice)
        assert await _notices(queue) == [STEP, STATUS]
        queue.sent()
        queue.wake()
        assert await queue.waiting() == ()

    _play(scenario)


def test_what_was_not_sent_is_returned_again_before_later_notices() -> None:
    async def scenario(queue: NoticeQueue) -> None:
        queue.add(STATUS)
        assert await _notices(queue) == [STATUS]
        queue.add(STEP)
        assert await _notices(queue) == [STATUS, STEP]
        assert await _notices(queue) == [STATUS, STEP]
        queue.sent()
        queue.add(STEP)
        assert await _notices(queue) == [STEP]

    _play(scenario)


def test_nothing_is_lost_by_a_wait_that_is_cancelled() -> None:
    async def scenario(queue: NoticeQueue) -> None:
        queue.add(STATUS)
        wait = asyncio.create_task(queue.waiting())
        await asyncio.sleep(0)
        wait.cancel()
        await asyncio.gather(wait, return_exceptions=True)
        assert await _notices(queue) == [STATUS]

    _play(scenario)


def test_a_wait_lasts_until_there_is_a_notice() -> None:
    async def scenario(queue: NoticeQueue) -> None:
        wait = asyncio.create_task(_notices(queue))
        await asyncio.sleep(0)
        assert not wait.done()
        queue.add(STATUS)
        assert await wait == [STATUS]

    _play(scenario)


def test_what_is_reported_within_some_milliseconds_is_sent_together() -> None:
    async def scenario() -> None:
        loop, queue = asyncio.get_running_loop(), NoticeQueue("one")
        for number in range(3):
            begun = loop.time()
            wait = asyncio.create_task(queue.waiting())
            found = [Notice("status", f"{number} {chat}") for chat in range(10)]
            for notice in found:
                queue.add(notice)
                await asyncio.sleep(0.001)
            (payload,) = await wait
            assert read_payload(payload) == ("one", tuple(found))
            # More often, NOTIFY costs the writers; more rarely, people see it.
            assert 0.02 <= loop.time() - begun <= 0.05
            queue.sent()

    play_virtually(scenario)
