"""Viewers of a real desktop: many at once, and RFB clients of other projects."""

import asyncio
import struct
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TypeVar

import asyncvnc
import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from websockets.asyncio.client import connect

from tests.system.services import PATIENCE, Service, until
from tests.system.watching import RfbReader
from tests.vncbridge.rfb.client_messages import SHARED_HELLO, encodings, resize
from tests.vncbridge.rfb.shim import shim

pytestmark = pytest.mark.x11

T = TypeVar("T")
LEASE = "/api/v0/desktop/lease"
MANY = 50
EXTENDED_DESKTOP_SIZE = -308
BY_THIS_CLIENT, PROHIBITED = 1, 1
"""Reason and status of a rectangle ExtendedDesktopSize."""
AREA = (900, 500, 100, 80)
TYPED = """
xterm -bg '#ff00ff' -geometry 80x24+100+100 -title typed \\
    -e sh -c 'read line; echo "$line" > line' 2> /dev/null
cat line
"""


def stream(desktop: Service, role: str) -> str:
    made = desktop.post("/api/v0/desktop/tickets", {"role": role}, status=201)
    address = desktop.url.replace("http", "ws", 1)
    return f"{address}/api/v0/desktop/vnc?ticket={made['ticket']}"


class Watcher(RfbReader):
    """A client that wants raw pixels of one area."""

    async def pixels(self) -> int:
        """Return how many came with the answer to the first request."""
        await self.greet(SHARED_HELLO + encodings(0))
        await self._socket.send(struct.pack(">BBHHHH", 3, 0, *AREA))
        kind, _, rectangles = struct.unpack(">BBH", await self.read(4))
        assert kind == 0
        found = 0
        for _ in range(rectangles):
            _, _, width, height, encoding = struct.unpack(">HHHHi", await self.read(12))
            assert encoding == 0
            await self.read(4 * width * height)
            found += width * height
        return found

    async def sizes(self, asked: bytes) -> list[tuple[int, ...]]:
        """Return the first two rectangles ExtendedDesktopSize, without their screens."""
        await self.greet(SHARED_HELLO)
        await self._socket.send(asked)
        found: list[tuple[int, ...]] = []
        while len(found) < 2:
            kind, _, rectangles = struct.unpack(">BBH", await self.read(4))
            assert kind == 0
            for _ in range(rectangles):
                *place, encoding = struct.unpack(">HHHHi", await self.read(12))
                if encoding == EXTENDED_DESKTOP_SIZE:
                    await self.read(16 * (await self.read(4))[0])
                    found.append(tuple(place))
                else:
                    await self.read(4 * place[2] * place[3])
        return found


@pytest.mark.parametrize("role", ["view", "control"])
def test_a_request_for_another_size_is_answered_with_the_size_that_stays(
    desktop: Service, role: str
) -> None:
    async def ask() -> list[tuple[int, ...]]:
        async with connect(stream(desktop, role), compression=None) as socket:
            request = struct.pack(">BBHHHH", 3, 0, 0, 0, 1, 1)
            asked = encodings(0, EXTENDED_DESKTOP_SIZE) + request + resize(1)
            return await Watcher(socket).sizes(asked)

    size = desktop.get("/api/v0/desktop")["size"]
    stays = (size["width"], size["height"])
    assert played(ask) == [(0, 0, *stays), (BY_THIS_CLIENT, PROHIBITED, *stays)]
    assert desktop.get("/api/v0/desktop")["size"] == size


@pytest.mark.parametrize("version", [b"003.889", b"003.005"])
def test_clients_of_versions_beside_the_published_ones_are_served(
    desktop: Service, version: bytes
) -> None:
    async def greeted() -> bytes:
        async with connect(stream(desktop, "view"), compression=None) as socket:
            came = b""
            await socket.send(b"RFB %b\n\x01" % version)
            while len(came) < 12 + 4 + 24:
                message = await socket.recv()
                assert isinstance(message, bytes)
                came += message
            return came

    assert played(greeted)[12:16] == (1).to_bytes(4)


def focused(desktop: Service) -> list[str]:
    windows = desktop.get("/api/v0/desktop/windows")["windows"]
    return [window["title"] for window in windows if window["focused"]]


def magenta_in(picture: npt.NDArray[np.uint8]) -> int:
    red, green, blue = (picture[..., channel] for channel in range(3))
    return int(((red == 255) & (green == 0) & (blue == 255)).sum())


def played(scene: Callable[[], Coroutine[None, None, T]]) -> T:
    async def run() -> T:
        async with asyncio.timeout(3 * PATIENCE):
            return await scene()

    return asyncio.run(run())


def test_fifty_watchers_at_once_all_get_pixels(desktop: Service) -> None:
    address = f"{desktop.url.replace('http', 'ws', 1)}/api/v0/desktop/vnc?role=view"
    shown = {"Authorization": f"Bearer {desktop.token}"}
    all_here = asyncio.Barrier(MANY)

    async def watch() -> int:
        async with connect(address, additional_headers=shown, compression=None) as socket:
            await all_here.wait()
            found = await Watcher(socket).pixels()
            await all_here.wait()
            return found

    async def all_of_them() -> list[int]:
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(watch()) for _ in range(MANY)]
        return [one.result() for one in watching]

    assert played(all_of_them) == MANY * [AREA[2] * AREA[3]]
    until(lambda: desktop.get("/api/v0/desktop")["watchers"] == 0, "the end of all watchers")


def test_rfb_clients_of_others_see_and_type_by_their_tickets(
    desktop: Service, tmp_path: Path
) -> None:
    desktop.act(action="mouse_move", coordinate=[10, 10])
    before = desktop.act(action="cursor_position")["native_point"]
    started = desktop.post("/api/v0/processes/start", {"command": TYPED, "background": True})
    until(lambda: "typed" in focused(desktop), "the terminal")

    async def look_only() -> None:
        async with (
            shim(stream(desktop, "view")) as port,
            asyncvnc.connect("127.0.0.1", port) as client,
        ):
            while magenta_in(await client.screenshot()) < 100_000:
                pass
            client.mouse.move(300, 200)
            client.mouse.click()
            client.keyboard.write("never")
            # A response proves that the server has processed the messages before it.
            assert (await client.screenshot()).shape == (1080, 1920, 4)

    async def drive_by_vncdotool() -> str:
        async with shim(stream(desktop, "control")) as port:
            program = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "vncdotool.command", "-s", f"127.0.0.1::{port}"),
                *("move", "300", "200", "type", "hello", "capture", "seen.png"),
                cwd=tmp_path,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            return (await program.communicate())[0].decode()

    async def drive_by_asyncvnc() -> None:
        async with (
            shim(stream(desktop, "control")) as port,
            asyncvnc.connect("127.0.0.1", port) as client,
        ):
            client.keyboard.write(" world")
            client.keyboard.press("Return")
            await client.screenshot()

    played(look_only)
    assert desktop.act(action="cursor_position")["native_point"] == before
    assert desktop.get(LEASE)["holder"] == {"kind": "nobody"}
    output = played(drive_by_vncdotool)
    with Image.open(tmp_path / "seen.png") as seen:
        # It leaves some of the rectangles of one colour black, however it is connected.
        assert magenta_in(np.asarray(seen)) > 10_000, output
    assert desktop.http.delete(LEASE).is_success
    played(drive_by_asyncvnc)
    # While a person is in control, the terminal is stopped.
    assert desktop.http.delete(LEASE).is_success
    path = f"/api/v0/processes/{started['id']}/output?wait_for=exit"
    assert desktop.get(path)["output"].strip() == "hello world"
