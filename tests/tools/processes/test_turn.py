import asyncio

from tools.processes.turn import Turn


def test_a_turn_is_over_when_its_time_is_and_the_next_begins_anew() -> None:
    now = 0.0

    async def scene() -> None:
        nonlocal now
        turn = Turn(1.0, lambda: now)
        assert not turn.over()
        now = 0.9
        assert not turn.over()
        now = 1.0
        assert turn.over()
        assert turn.over()
        await asyncio.sleep(0)
        assert not turn.over()

    asyncio.run(scene())
