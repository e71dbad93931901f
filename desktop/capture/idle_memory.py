"""Memory that a desktop returns to the machine while no one uses its screen.

An agent that thinks, or waits for a person, needs no screenshots. 30 s after the last frame the
buffers are freed that only make the next frames and pictures faster, and the C library returns free
memory to the kernel. That happens once for each pause; the next picture takes some milliseconds
longer.
"""

import asyncio
import ctypes
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

IDLE_SECONDS = 30.0


class Releasing(Protocol):
    """A part that keeps memory for speed."""

    def release(self) -> None:
        """Free it."""


class UsedScreen(Releasing, Protocol):
    """A screen that knows its last use."""

    @property
    def used_at(self) -> float:
        """Monotonic time of the last frame."""


class IdleMemory:
    """Frees memory once in each pause; ``screen`` returns None while there is no screen."""

    def __init__(
        self,
        screen: Callable[[], UsedScreen | None],
        renderer: Releasing,
        trim: Callable[[], object] | None = None,
    ) -> None:
        self._screen = screen
        self._renderer = renderer
        self._trim = trim or _return_free_memory
        self._released = 0.0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Free memory in every pause while the block runs."""
        task = asyncio.create_task(self._run(), name="idle memory")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(IDLE_SECONDS)
            await asyncio.to_thread(self.check, time.monotonic())

    def check(self, now: float) -> bool:
        """Free memory if the screen was not used for so long; return whether that was done."""
        screen = self._screen()
        if screen is None or now - screen.used_at < IDLE_SECONDS:
            return False
        if self._released == screen.used_at:
            return False
        self._released = screen.used_at
        self._renderer.release()
        screen.release()
        self._trim()
        return True


def _return_free_memory() -> None:
    # Of all arenas: other threads allocate too (malloc_trim(3)).
    ctypes.CDLL(None).malloc_trim(0)
