"""Streams of the real RFB server, in each encoding: the parser finds the ends of its messages."""

import asyncio
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import xcffib.xproto
from websockets.asyncio.client import connect

from deskhand.desktop.x11.connection import connect as connect_x
from deskhand.desktop.x11.connection import screen_of
from deskhand.vncbridge.rfb.messages import ClientParser
from deskhand.vncbridge.rfb.server_messages import ServerParser
from tests.system.services import Service, x_display
from tests.system.watching import played, stream, ticket
from tests.vncbridge.rfb.client_messages import HELLO, encodings, key, pointer

pytestmark = pytest.mark.x11

SIDE = 200
FENCE, CONTINUOUS = -312, -313
EVERYTHING = (-223, -224, -258, -261, -307, -308, FENCE, CONTINUOUS)
CURSORS = (-239, -240, -314, 0x574D5664)
FORMATS = {
    "888": struct.pack(">BxxxBBBBHHHBBBxxx", 0, 32, 24, 0, 1, 255, 255, 255, 16, 8, 0),
    "565": struct.pack(">BxxxBBBBHHHBBBxxx", 0, 16, 16, 0, 1, 31, 63, 31, 11, 5, 0),
    "332": struct.pack(">BxxxBBBBHHHBBBxxx", 0, 8, 8, 0, 1, 7, 7, 3, 5, 2, 0),
    "mapped": struct.pack(">BxxxBBBBHHHBBBxxx", 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0),
}


@contextmanager
def painted(desktop: Service) -> Iterator[None]:
    """Show a window with noise beside what is shown anyway, so that each kind of area is sent."""
    connection = connect_x(*x_display(desktop))
    try:
        screen = screen_of(connection)
        window, context = connection.generate_id(), connection.generate_id()
        flags = xcffib.xproto.CW.BackPixel | xcffib.xproto.CW.OverrideRedirect
        connection.core.CreateWindow(
            *(screen.root_depth, window, screen.root, 40, 40, 2 * SIDE, SIDE, 0),
            *(xcffib.xproto.WindowClass.InputOutput, screen.root_visual, flags, [0xAA3311, 1]),
        )
        connection.core.CreateGC(context, window, 0, [])
        connection.core.MapWindow(window)
        form = xcffib.xproto.ImageFormat.ZPixmap
        for top in range(0, SIDE, 50):
            noise = os.urandom(4 * SIDE * 50)
            connection.core.PutImage(
                *(form, window, context, SIDE, 50, 0, top, 0, screen.root_depth),
                *(len(noise), noise),
            )
        connection.core.GetInputFocus().reply()
        yield
    finally:
        connection.disconnect()


def fence(nonce: bytes) -> bytes:
    return struct.pack(">BxxxIB", 248, 1 << 31, len(nonce)) + nonce


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("encoding", [0, 1, 2, 5, 7, 16])
def test_each_message_ends_where_the_parser_says(
    desktop: Service, encoding: int, form: str
) -> None:
    size = desktop.get("/api/v0/desktop")["size"]
    all_of_it = (0, 0, size["width"], size["height"])
    request, changes = (struct.pack(">BBHHHH", 3, i, *all_of_it) for i in (0, 1))

    async def watch() -> None:
        parser, said = ServerParser(), ClientParser()
        address = stream(desktop, ticket=await asyncio.to_thread(ticket, desktop, "control"))
        async with connect(address, compression=None, max_size=None) as socket:

            async def say(data: bytes) -> None:
                for message in said.feed(data):
                    parser.note(message)
                await socket.send(data)

            async def hear(until: bytes) -> None:
                """Read up to these bytes, which are the end of a message."""
                came = bytearray()
                while until not in came:
                    message = await socket.recv()
                    assert isinstance(message, bytes)
                    came += message
                end = came.index(until) + len(until)
                for at in range(0, end, 1000):
                    found = parser.feed(bytes(came[at : min(at + 1000, end)]))
                assert found == end - at
                assert parser.between_messages
                parser.feed(bytes(came[end:]))

            await say(HELLO)
            for number, cursor in enumerate(CURSORS):
                wanted = encodings(encoding, cursor, *EVERYTHING, -32 + 2 * number, -256 + number)
                await say(FORMATS[form] + wanted + request)
                nonce = os.urandom(32)
                await say(pointer(0, 60 + 400 * (number % 2), 60) + fence(nonce))
                await hear(nonce)
                nonce = os.urandom(32)
                await say(changes + key(0xFFE5) + key(0xFFE5, down=False) + fence(nonce))
                await hear(nonce)

    with painted(desktop):
        played(watch())
