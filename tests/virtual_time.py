"""An event loop whose time jumps to the next timer whenever nothing else is to be done."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Starts at 0. For code that waits for timers alone: what a thread or a peer does is late."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_JumpingSelector(self._jump))

    def time(self) -> float:
        return self._now

    def _jump(self, seconds: float) -> None:
        self._now += seconds


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, jump: Callable[[float], None]) -> None:
        super().__init__()
        self._jump = jump

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found and timeout is None:
            return super().select(None)
        if not found and timeout is not None and timeout > 0:
            self._jump(timeout)
        return found


def play_virtually(scenario: Callable[[], Awaitable[None]]) -> None:
    """Await ``scenario()`` in virtual time."""

    async def main() -> None:
        await scenario()

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(main())
