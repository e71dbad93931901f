"""Changes of the list of desktops, for pages that show it."""

import asyncio
from collections.abc import Callable, Hashable

PERIOD = 0.5
"""Seconds between two comparisons, which are made only while a page shows the list."""


class DesktopChanges:
    """Calls subscribers when the desktops are others than before. Close it."""

    def __init__(self, states: Callable[[], Hashable]) -> None:
        """``states`` returns a value that differs when the list does; it must be quick."""
        self._states = states
        self._changed: list[Callable[[], None]] = []
        self._task: asyncio.Task[None] | None = None

    def subscribe(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call ``changed`` after each change from now on; return what ends that."""
        self._changed.append(changed)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="changes of desktops")

        def unsubscribe() -> None:
            self._changed.remove(changed)
            if not self._changed and self._task is not None:
                self._task.cancel()
                self._task = None

        return unsubscribe

    async def close(self) -> None:
        """End the comparisons."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        before = self._states()
        while True:
            await asyncio.sleep(PERIOD)
            now = self._states()
            if now != before:
                before = now
                for changed in tuple(self._changed):
                    changed()
