import asyncio

from deskhand.desktop.processes.fair_turns import FairScheduler


def test_a_turn_is_over_when_its_time_is_and_the_next_begins_anew() -> None:
    now = 0.0

    async def scene() -> None:
        nonlocal now
        scheduler = FairScheduler(1.0, lambda: now)
        assert not scheduler.used_up()
        now = 0.9
        assert not scheduler.used_up()
        now = 1.0
        assert scheduler.used_up()
        assert scheduler.used_up()
        await asyncio.sleep(0)
        assert not scheduler.used_up()

    asyncio.run(scene())


def test_work_over_its_turn_waits_for_a_later_one() -> None:
    now = 0.0
    order: list[str] = []

    async def worker(scheduler: FairScheduler, name: str) -> None:
        nonlocal now
        await scheduler.wait_turn()
        order.append(name)
        now += 1.0

    async def scene() -> None:
        scheduler = FairScheduler(1.0, lambda: now)
        workers = [asyncio.create_task(worker(scheduler, name)) for name in "abc"]
        await asyncio.sleep(0)
        order.append("next turn")
        await asyncio.gather(*workers)

    asyncio.run(scene())
    assert order == ["a", "next turn", "b", "c"]
