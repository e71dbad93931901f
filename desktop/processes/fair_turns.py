"""How much of one turn of the event loop goes to processes, however many of them are ready."""

import asyncio
import time
from collections.abc import Callable

SECONDS = 0.003
"""Other callbacks wait no longer for ours."""


class FairScheduler:
    """Counts from the first question in a turn. Belongs to one loop.

    Who finds it over returns at once: a descriptor that is still ready calls again next turn.
    """

    def __init__(
        self, seconds: float = SECONDS, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._ends: float | None = None

    def over(self) -> bool:
        """Whether the time of this turn is used up."""
        if self._ends is None:
            self._ends = self._clock() + self._seconds
            # Runs in the next turn, before what becomes ready then.
            asyncio.get_running_loop().call_soon(self._begin)
            return False
        return self._clock() >= self._ends

    async def free(self) -> None:
        """Wait for a turn with time left: many that came at once do not make one long turn."""
        while self.over():  # noqa: ASYNC110 -- the next turn of the loop is what is waited for
            await asyncio.sleep(0)

    def _begin(self) -> None:
        self._ends = None
