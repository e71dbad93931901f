"""Pictures of screens for pages: one request at a time for each screen and width, for all pages.

The desktop service answers when its screen has changed, so that an idle screen costs one request
in `WAIT_SECONDS`. After a picture the next one is requested half a second later.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from deskhand.desktop.errors import DesktopUnavailable
from deskhand.tools.control_plane.ports import Desktops
from deskhand.tools.fleet.errors import UnknownDesktop

Show = Callable[[bytes], None]
"""Receives each picture, a JPEG."""

WAIT_SECONDS = 25
PERIOD = 0.5
"""Seconds from one picture to the next request: two pictures a second at most."""

RETRY = 2.0
"""Seconds after a refusal, as while a person has control in private."""


class Screens:
    """The screens that pages show. Close it."""

    def __init__(self, desktops: Desktops) -> None:
        self._desktops = desktops
        self._watches: dict[tuple[str, int], _Watch] = {}

    def subscribe(self, desktop_id: str, width: int, show: Show) -> Callable[[], None]:
        """Show pictures from now on, the newest first; return what ends that."""
        key = (desktop_id, width)
        watch = self._watches.get(key)
        if watch is None:
            watch = self._watches[key] = _Watch(self._desktops, desktop_id, width)
        watch.add(show)

        def unsubscribe() -> None:
            if watch.remove(show) and self._watches.get(key) is watch:
                del self._watches[key]

        return unsubscribe

    async def close(self) -> None:
        """End all requests."""
        watches, self._watches = list(self._watches.values()), {}
        await asyncio.gather(*(watch.close() for watch in watches))


class _Watch:
    """One screen in one width, while a page shows it."""

    def __init__(self, desktops: Desktops, desktop_id: str, width: int) -> None:
        self._desktops = desktops
        self._id = desktop_id
        height = round(width * 9 / 16)
        self._path = (
            f"/api/v0/desktop/screenshot?scaled_width={width}&scaled_height={height}"
            f"&format=jpeg&quality=70&wait={WAIT_SECONDS}"
        )
        self._shows: list[Show] = []
        self._newest: bytes | None = None
        self._etag = ""
        self._task = asyncio.create_task(self._run(), name=f"screen of {desktop_id}")

    def add(self, show: Show) -> None:
        self._shows.append(show)
        if self._newest is not None:
            show(self._newest)

    def remove(self, show: Show) -> bool:
        """Remove a subscriber; return True, and end, if it was the last."""
        with suppress(ValueError):
            self._shows.remove(show)
        if not self._shows:
            self._task.cancel()
        return not self._shows

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        while True:
            try:
                image = await self._next()
            except UnknownDesktop:
                return
            if image is None:
                continue
            if image:
                self._newest = image
                for show in tuple(self._shows):
                    show(image)
            await asyncio.sleep(PERIOD if image else RETRY)

    async def _next(self) -> bytes | None:
        """Return the next picture: None if nothing changed, empty if it is refused for now."""
        headers = {"If-None-Match": self._etag} if self._etag else {}
        await self._desktops.locate(self._id)
        service = self._desktops.client(self._id)
        try:
            async with service.stream("GET", self._path, headers=headers) as response:
                if response.status == 304:
                    return None
                if response.status != 200:
                    return b""
                self._etag = response.header("etag")
                return await response.read()
        except DesktopUnavailable:
            return b""
