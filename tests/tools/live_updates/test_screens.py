import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from deskhand.desktop.client.http1.open_reply import OpenReply
from deskhand.tools.control_plane.ports import Desktops
from deskhand.tools.fleet.errors import UnknownDesktop
from deskhand.tools.live_updates.screens import Screens

LIMIT = 20.0


class Picture(OpenReply):
    """An answer with these bytes."""

    def __init__(
        self, status: int, fields: Sequence[tuple[bytes, bytes]], data: bytes = b""
    ) -> None:
        super().__init__(status, fields)
        self._data = data

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        yield self._data


class FakeScreen:
    """A desktop service whose answers a test gives; a request waits for the next one."""

    def __init__(self) -> None:
        self.answers: asyncio.Queue[OpenReply] = asyncio.Queue()
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, *, headers: Mapping[str, str], **_: Any
    ) -> AsyncIterator[OpenReply]:
        self.asked.append((path, headers))
        yield await self.answers.get()


class FakeDesktops:
    def __init__(self, screen: FakeScreen) -> None:
        self.screen = screen

    async def locate(self, desktop_id: str) -> None: ...

    def client(self, desktop_id: str) -> FakeScreen:
        if desktop_id != "d1":
            raise UnknownDesktop(desktop_id)
        return self.screen


def screens(screen: FakeScreen) -> Screens:
    return Screens(cast(Desktops, FakeDesktops(screen)))


def image(data: bytes, etag: str) -> OpenReply:
    return Picture(200, ((b"etag", etag.encode()),), data)


def test_pages_share_one_request_and_each_gets_the_newest_picture() -> None:
    async def scenario() -> None:
        screen = FakeScreen()
        watched = screens(screen)
        first: asyncio.Queue[bytes] = asyncio.Queue()
        second: asyncio.Queue[bytes] = asyncio.Queue()
        async with asyncio.timeout(LIMIT):
            end_first = watched.subscribe("d1", 640, first.put_nowait)
            screen.answers.put_nowait(image(b"one", '"1"'))
            assert await first.get() == b"one"
            end_second = watched.subscribe("d1", 640, second.put_nowait)
            assert await second.get() == b"one"
            screen.answers.put_nowait(Picture(304, ()))
            screen.answers.put_nowait(image(b"two", '"2"'))
            assert (await first.get(), await second.get()) == (b"two", b"two")
        path, headers = screen.asked[1]
        assert "scaled_width=640&scaled_height=360" in path
        assert headers == {"If-None-Match": '"1"'}
        end_first()
        end_second()
        await watched.close()

    asyncio.run(scenario())


def test_a_screen_that_no_page_shows_is_not_requested() -> None:
    async def scenario() -> None:
        screen = FakeScreen()
        watched = screens(screen)
        watched.subscribe("d1", 64, lambda _: None)()
        again: asyncio.Queue[bytes] = asyncio.Queue()
        watched.subscribe("d1", 64, again.put_nowait)
        screen.answers.put_nowait(image(b"new", '"1"'))
        async with asyncio.timeout(LIMIT):
            assert await again.get() == b"new"
        assert len(screen.asked) == 1
        await watched.close()

    asyncio.run(scenario())


def test_an_ended_desktop_ends_its_pictures() -> None:
    async def scenario() -> None:
        watched = screens(FakeScreen())
        end = watched.subscribe("d9", 640, lambda _: None)
        await asyncio.sleep(0)
        end()
        await watched.close()

    asyncio.run(scenario())
