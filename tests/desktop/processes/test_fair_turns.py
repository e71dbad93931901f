import asyncio

from deskhand.desktop.processes.fair_turns import FairScheduler


def test_a_turn_is_over_when_its_time_is_and_the_next_begins_anew() -> None:
    now = 0.0

    async def scene() -> None:
        nonlocal now
        turn = FairScheduler(1.0, lambda: now)
        assert not turn.over()
        now = 0.9
        assert not turn.over()
        now = 1.0
        assert turn.over()
        assert turn.over()
        await asyncio.sleep(0)
        assert not turn.over()

    asyncio.run(scene())


def test_who_needs_time_gets_it_in_a_later_turn() -> None:
    now = 0.0
    order: list[str] = []

    async def worker(turn: FairScheduler, name: str) -> None:
        nonlocal now
        await turn.free()
        order.append(name)
        now += 1.0

    async def scene() -> None:
        turn = FairScheduler(1.0, lambda: now)
        workers = [asyncio.create_task(worker(turn, name)) for name in "abc"]
        await asyncio.sleep(0)
        order.append("next turn")
        await asyncio.gather(*workers)

    asyncio.run(scene())
    assert order == ["a", "next turn", "b", "c"]
