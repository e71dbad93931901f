import asyncio
from collections.abc import Awaitable, Callable

from deskhand.tools.store.backends.notice_queue import NoticeQueue
from deskhand.tools.store.backends.notices import Notice, read_payload

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
