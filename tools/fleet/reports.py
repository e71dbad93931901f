"""Reports of desktops, read from the event streams of their services.

They are the addresses that a desktop may not reach, and status messages of its commands.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any, Self

from deskhand.desktop.agent_socket.status_messages import STATUS_EVENT
from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.network.nflog import REFUSED_EVENT
from deskhand.tools.store.errors import StoreError

from .errors import UnknownDesktop

Json = dict[str, Any]

EVENTS = "/api/v0/desktop/events"
AGAIN_SECONDS = 2.0
"""Pause after a stream that broke off."""


class ReportFollower:
    """Reads the events of all desktops, one task for each.

    ``client`` returns the client of a desktop; it raises `UnknownDesktop` when there is none any
    more, which ends the task.
    """

    def __init__(
        self, client: Callable[[str], DesktopClient], again_seconds: float = AGAIN_SECONDS
    ) -> None:
        self._client = client
        self._again_seconds = again_seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self.on_refused: Callable[[str, Json], Awaitable[None]] = _ignore
        """Awaited with the id of a desktop and the address, port and protocol."""
        self.on_status: Callable[[str, Json], Awaitable[None]] = _ignore
        """Awaited with the id of a desktop and a status message."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def follow(self, desktop_id: str) -> None:
        """Read the events of a desktop until it ends."""
        task = asyncio.create_task(self._follow(desktop_id), name=f"reports of {desktop_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, desktop_id: str) -> None:
        last = ""
        while True:
            try:
                client = self._client(desktop_id)
                headers = {"Last-Event-ID": last} if last else None
                async with client.lines(EVENTS, headers) as lines:
                    while (line := await lines.next()) is not None:
                        last = await self._read(desktop_id, line) or last
            except UnknownDesktop:
                return
            except (DesktopRefused, DesktopUnavailable):
                pass
            await asyncio.sleep(self._again_seconds)

    async def _read(self, desktop_id: str, line: str) -> str:
        field, _, value = line.partition(":")
        if field != "data":
            return ""
        event = json.loads(value)
        # An event that cannot be published now must not end the stream.
        with contextlib.suppress(StoreError):
            if event["kind"] == REFUSED_EVENT:
                await self.on_refused(desktop_id, event["data"])
            elif event["kind"] == STATUS_EVENT:
                await self.on_status(desktop_id, event["data"])
        return str(event["id"])


async def _ignore(_: str, __: Json) -> None:
    """Do nothing: no one has asked for the reports."""
