"""First uses of the displays of desktops that were started without one."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.conversation.errors import ChatError

from .errors import UnknownDesktop

log = logging.getLogger(__name__)

DISPLAY = "/api/v0/desktop/display"
WAIT_SECONDS = 30.0
"""Duration of one request that waits for the first use."""
GRACE_SECONDS = 60.0
RETRY_SECONDS = 1.0


class FirstUses:
    """Waits at each desktop service for the first use of its display.

    ``client`` returns the client of a desktop, ``waits`` whether it runs and has no display yet.
    A start that failed is tried again after ``retry_seconds``. A request that waits would keep an
    idle desktop alive, so that there is none while ``keeps_alive`` returns False.
    """

    def __init__(
        self,
        client: Callable[[str], DesktopClient],
        waits: Callable[[str], bool],
        retry_seconds: float = RETRY_SECONDS,
        keeps_alive: Callable[[], bool] = lambda: True,
    ) -> None:
        self._keeps_alive = keeps_alive
        self._retry_seconds = retry_seconds
        self._client = client
        self._waits = waits
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.on_use: Callable[[str], Awaitable[None]]
        """Awaited with the id of the desktop; it should start the display."""

    def watch(self, desktop_id: str) -> None:
        """Wait for the first use of a desktop's display, until the desktop ends."""
        task = asyncio.create_task(self._watch(desktop_id), name=f"first use of {desktop_id}")
        self._tasks[desktop_id] = task

    def forget(self, desktop_id: str) -> None:
        """Wait no more at a desktop that is being ended."""
        task = self._tasks.get(desktop_id)
        # The use of a display may be what ends the desktop.
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def close(self) -> None:
        """End all waits."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, desktop_id: str) -> None:
        try:
            while self._waits(desktop_id):
                if not self._keeps_alive():
                    await asyncio.sleep(self._retry_seconds)
                    continue
                try:
                    if await self._is_used(desktop_id):
                        await self.on_use(desktop_id)
                except (ChatError, DesktopRefused, DesktopUnavailable, UnknownDesktop) as error:
                    # The service may be ending, which ``waits`` reports a little later.
                    await asyncio.sleep(self._retry_seconds)
                    if self._waits(desktop_id):
                        log.warning("the display of %s is not started: %s", desktop_id, error)
        finally:
            self._tasks.pop(desktop_id, None)

    async def _is_used(self, desktop_id: str) -> bool:
        params = {"wanted_within_s": f"{WAIT_SECONDS:.0f}"}
        timeout = WAIT_SECONDS + GRACE_SECONDS
        answer = await self._client(desktop_id).request(
            "GET", DISPLAY, params=params, timeout=timeout
        )
        return str(answer["state"]) != "absent"
