import asyncio

from starlette.types import Message, Receive, Scope, Send

from deskhand.vncbridge.server.idle_timeout import IdleTimeout


class Clock:
    """Seconds that a test lets pass."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def silence() -> Message:
    return {"type": "http.disconnect"}


async def ignore(_: Message) -> None:
    pass


def test_a_call_in_progress_is_no_idleness_and_its_end_starts_the_count() -> None:
    clock = Clock()
    seen: list[float] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        clock.now += 50
        seen.append(idleness.seconds)

    idleness = IdleTimeout(app, clock)
    clock.now += 10
    assert idleness.seconds == 10
    asyncio.run(idleness({"type": "http"}, silence, ignore))
    assert seen == [0.0]
    clock.now += 5
    assert idleness.seconds == 5


def test_starting_and_stopping_the_application_is_no_call() -> None:
    clock = Clock()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        pass

    idleness = IdleTimeout(app, clock)
    clock.now += 7
    asyncio.run(idleness({"type": "lifespan"}, silence, ignore))
    assert idleness.seconds == 7


def test_waiting_for_silence_ends_when_it_has_lasted() -> None:
    clock = Clock()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        pass

    async def scene() -> None:
        idleness = IdleTimeout(app, clock)
        clock.now += 0.009
        await idleness({"type": "http"}, silence, ignore)
        waiting = asyncio.create_task(idleness.reached(0.01))
        clock.now += 0.009
        # The clock stands still, so however long this takes it is no silence of 0.01 s.
        await asyncio.sleep(0.05)
        assert not waiting.done()
        clock.now += 0.009
        await waiting

    asyncio.run(scene())


def test_an_idle_service_ends_by_itself_and_one_without_a_limit_never_does() -> None:
    clock = Clock()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        pass

    async def scene() -> None:
        ended = asyncio.Event()
        idleness = IdleTimeout(app, clock)
        clock.now += 60
        async with idleness.ending(None, ended.set):
            await asyncio.sleep(0)
        assert not ended.is_set()
        async with idleness.ending(60, ended.set):
            await ended.wait()

    asyncio.run(scene())


def test_a_service_that_ended_otherwise_is_not_ended_again() -> None:
    clock = Clock()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        pass

    async def scene() -> None:
        ended = asyncio.Event()
        async with IdleTimeout(app, clock).ending(60, ended.set):
            pass
        clock.now += 60
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert not ended.is_set()

    asyncio.run(scene())
