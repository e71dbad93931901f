"""Bounds the time of each iteration of the event loop that is spent on processes.

A thousand processes that write at once make a thousand descriptors readable in one iteration.
Reading all of them would delay every other callback, among them the answers of the routes.
"""

import asyncio
import time
from collections.abc import Callable

SECONDS = 0.003
"""Longest delay of other callbacks per iteration."""


class FairScheduler:
    """Time budget of one iteration, counted from its first ``used_up``. Belongs to one loop.

    A callback that finds the budget used up returns at once: polling is level-triggered, so a
    descriptor that is still ready calls it again in the next iteration.
    """

    def __init__(
        self, seconds: float = SECONDS, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._deadline: float | None = None

    def used_up(self) -> bool:
        """Return True if the budget of this iteration is used up."""
        if self._deadline is None:
            self._deadline = self._clock() + self._seconds
            # call_soon runs this in the next iteration, before callbacks that become ready then.
            asyncio.get_running_loop().call_soon(self._reset)
            return False
        return self._clock() >= self._deadline

    async def wait_turn(self) -> None:
        """Wait for an iteration with budget left, so that simultaneous calls are spread out."""
        while self.used_up():  # noqa: ASYNC110 -- this waits for the loop's next iteration
            await asyncio.sleep(0)

    def _reset(self) -> None:
        self._deadline = None
