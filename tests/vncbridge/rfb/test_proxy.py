import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter
from starlette.websockets import WebSocket
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from deskhand.vncbridge.errors import BridgeError
from deskhand.vncbridge.rfb.proxy import UnixUpstream, relay, router
from deskhand.vncbridge.rfb.server_connection import ServerConnection
from deskhand.vncbridge.rfb.viewers import Viewers, viewer_identity
from deskhand.vncbridge.server.websocket_protocol import StreamProtocol
from deskhand.vncbridge.websocket.client_stream import ClientStream
from tests.vncbridge.fakes import LIMIT, Behaviour, Service, rfb_server, short_folder
from tests.vncbridge.rfb.client_messages import HELLO, SHARED_HELLO, fence, key

MiB = 1024 * 1024


BYE = fence(b"bye")


async def mirror(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Greet, then say again what is said, then hang up on 'bye'."""
    writer.write(b"RFB 003.008\n")
    while data := await reader.read(100):
        writer.write(data)
        if data.endswith(b"bye"):
            break
    await writer.drain()
    writer.close()


class Flood:
    """Send as fast as it is taken; remember how much was and when the other side left."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.taken = 0
        self.ended = asyncio.Event()
        self.connected = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected.set()
        writer.transport.set_write_buffer_limits(high=0)
        block = bytes(range(256)) * 256
        try:
            while self.taken < self.size:
                writer.write(block)
                await writer.drain()
                self.taken += len(block)
            writer.close()
        finally:
            self.ended.set()


class Hasty(StreamProtocol):
    """Cuts off at once a client that does not answer a close frame properly."""

    def drop(self, code: int, reason: str, seconds: float = 0.1) -> None:
        """Drop a peer."""
        super().drop(code, reason, seconds)


def served(
    behaviour: Behaviour,
    scenario: Callable[[Service, Viewers], Awaitable[Any]],
    stuck_seconds: float = 30.0,
    patience: float = 30.0,
    protocol: type[StreamProtocol] = StreamProtocol,
) -> Any:
    async def run() -> Any:
        with short_folder() as folder:
            watchers = Viewers(2)
            async with rfb_server(folder / "rfb", behaviour) as path:
                routes = router(
                    UnixUpstream(path), lambda: False, watchers, stuck_seconds, patience
                )
                async with asyncio.timeout(LIMIT), Service(routes, protocol=protocol) as service:
                    return await scenario(service, watchers)

    return asyncio.run(run())


def opened(service: Service, **options: Any) -> connect:
    return connect(service.stream, compression=None, max_size=None, **options)


async def everything(browser: ClientConnection) -> bytes:
    received = bytearray()
    try:
        while True:
            message = await browser.recv()
            assert isinstance(message, bytes)
            received += message
    except ConnectionClosed:
        return bytes(received)


def test_bytes_travel_both_ways_and_the_server_closing_ends_the_stream() -> None:
    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service) as browser:
            await browser.send(HELLO)
            await browser.send(key(0x61) + BYE)
            said = b"RFB 003.008\n" + SHARED_HELLO + key(0x61) + BYE
            assert await everything(browser) == said
            assert browser.close_code == 1000

    served(mirror, scenario)


def test_a_megabyte_arrives_in_order_in_each_direction() -> None:
    payload = SHARED_HELLO + b"".join(fence(i.to_bytes(4) * 16) for i in range(14_000))

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()

    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service) as browser:

            async def type_slowly() -> None:
                for start in range(0, len(payload), 4099):
                    await browser.send(payload[start : start + 4099])

            typing = asyncio.create_task(type_slowly())
            received = bytearray()
            while len(received) < len(payload):
                message = await browser.recv()
                assert isinstance(message, bytes)
                received += message
            await typing
            assert hashlib.sha256(received).digest() == hashlib.sha256(payload).digest()

    served(echo, scenario)


def test_the_watcher_closing_ends_the_connection_to_the_server() -> None:
    ended = asyncio.Event()

    async def until_eof(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.read() == SHARED_HELLO
        ended.set()

    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service) as browser:
            await browser.send(HELLO)
        await ended.wait()

    served(until_eof, scenario)


@pytest.mark.parametrize(
    ("offered", "chosen"), [(["binary"], "binary"), (["base64", "binary"], "binary"), (None, None)]
)
def test_the_binary_subprotocol_is_accepted_but_not_needed(
    offered: Any, chosen: str | None
) -> None:
    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service, subprotocols=offered) as browser:
            assert browser.subprotocol == chosen
            assert await browser.recv() == b"RFB 003.008\n"

    served(mirror, scenario)


def test_compression_is_not_agreed_on() -> None:
    async def scenario(service: Service, watchers: Viewers) -> None:
        async with connect(service.stream) as browser:
            assert browser.protocol.extensions == []
            assert await browser.recv() == b"RFB 003.008\n"

    served(mirror, scenario)


TOO_LARGE = b"\x82\xff" + (64 * MiB).to_bytes(8) + bytes(4)


@pytest.mark.parametrize(
    ("frame", "code", "reason"),
    [
        (b"\x81\x85" + bytes(4) + b"hello", 1003, "Messages of this stream are binary."),
        (TOO_LARGE + bytes(MiB), 1009, "exceeds limit"),
        (b"\x8f\x80" + bytes(4), 1002, "invalid opcode"),
        (b"\x82\x05" + HELLO[:5], 1002, "incorrect masking"),
    ],
)
def test_a_bad_frame_ends_that_watcher_only(frame: bytes, code: int, reason: str) -> None:
    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service) as other, opened(service) as browser:
            await browser.recv()
            browser.transport.write(frame)
            await everything(browser)
            assert browser.close_code == code
            assert reason in (browser.close_reason or "")
            await other.send(HELLO + BYE)
            assert (await everything(other)).endswith(BYE)

    served(mirror, scenario)


def test_a_long_message_is_read_in_turns_with_others() -> None:
    words = SHARED_HELLO + key(0x61) * 10_000 + BYE

    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service) as browser:
            await browser.send(words)
            assert await everything(browser) == b"RFB 003.008\n" + words

    served(mirror, scenario)


def test_watchers_are_counted_and_one_too_many_is_refused() -> None:
    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service) as first, opened(service) as second:
            await first.recv()
            await second.recv()
            assert watchers.count == 2
            with pytest.raises(InvalidStatus) as refused:
                await opened(service)
            assert refused.value.response.status_code == 429
            await second.send(HELLO + BYE)
            await everything(second)
            await first.send(HELLO + BYE)
            await everything(first)
        await service.stop()
        assert watchers.count == 0

    served(mirror, scenario)


def test_a_missing_rfb_server_is_a_plain_http_error_before_the_upgrade() -> None:
    async def scenario() -> tuple[int, bytes]:
        routes = router(UnixUpstream(Path("/nowhere/rfb")), lambda: False, Viewers())
        async with Service(routes) as service:
            with pytest.raises(InvalidStatus) as refused:
                await opened(service)
            return refused.value.response.status_code, bytes(refused.value.response.body)

    assert asyncio.run(scenario()) == (
        500,
        b'{"message":"Failed to connect to VNC server.","detail":"rfb: No such file or directory"}',
    )


def test_a_desktop_that_does_not_start_is_a_plain_http_error() -> None:
    class Broken(UnixUpstream):
        async def open(self) -> ServerConnection:
            raise BridgeError("no display")

    async def scenario() -> bytes:
        async with Service(router(Broken(Path()), lambda: False, Viewers())) as service:
            with pytest.raises(InvalidStatus) as refused:
                await opened(service)
            assert refused.value.response.status_code == 500
            return bytes(refused.value.response.body)

    body = b'{"message":"Failed to start desktop session.","detail":"no display"}'
    assert asyncio.run(scenario()) == body


def test_a_closing_service_takes_no_more_watchers() -> None:
    async def scenario() -> int:
        routes = router(UnixUpstream(Path("/nowhere")), lambda: True, Viewers())
        async with Service(routes) as service:
            with pytest.raises(InvalidStatus) as refused:
                await opened(service)
            return refused.value.response.status_code

    assert asyncio.run(scenario()) == 503


def test_a_stuck_watcher_costs_little_and_is_dropped_while_others_stay_fluent() -> None:
    held: list[int] = []
    lines: list[ServerConnection] = []
    routes = APIRouter()

    async def run() -> None:
        began, dropped = asyncio.Event(), asyncio.Event()

        async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            began.set()
            await Flood(24 * MiB)(reader, writer)

        with short_folder() as folder:

            @routes.websocket("/api/v0/desktop/vnc")
            async def watch(websocket: WebSocket) -> None:
                line = await ServerConnection.to(folder / "rfb")
                lines.append(line)
                await websocket.accept()
                client = ClientStream(websocket, stuck_seconds=20.0 if lines[1:] else 0.5)
                with Viewers().session(viewer_identity({}, None, "d"), line.write) as session:
                    close_reason = await relay(client, line, session)
                    held.append(client.held + line.held)
                    await client.close(close_reason)
                if line is lines[0]:
                    dropped.set()
                await line.close()

            async with (
                asyncio.timeout(LIMIT),
                rfb_server(folder / "rfb", flood),
                Service(routes) as service,
                opened(service, max_queue=1, ping_interval=None) as stuck,
            ):
                await began.wait()
                async with opened(service, ping_interval=None) as fluent:
                    assert len(await everything(fluent)) == 24 * MiB
                    assert fluent.close_code == 1000
                await dropped.wait()
                received = await everything(stuck)
                assert received[:65536] == bytes(range(256)) * 256
                assert len(received) < 24 * MiB
                assert stuck.close_code == 1013
                assert stuck.close_reason == "Nothing was read for 0.5 s."

    asyncio.run(run())
    assert 0 < max(held) <= 2_000_000


def test_a_long_stream_arrives_whole() -> None:
    flood = Flood(24 * MiB)

    async def scenario(service: Service, watchers: Viewers) -> int:
        async with opened(service, max_queue=1, ping_interval=None) as browser:
            return len(await everything(browser))

    assert served(flood, scenario) == 24 * MiB


def test_viewers_receive_the_close_code_of_a_shutdown() -> None:
    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service) as browser:
            await browser.recv()
            ending = asyncio.create_task(service.stop())
            await everything(browser)
            assert browser.close_code == 1001
            await ending
        assert watchers.count == 0

    served(mirror, scenario)


def test_a_stuck_watcher_does_not_hold_up_the_end() -> None:
    flood = Flood(256 * MiB)

    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service, max_queue=1, ping_interval=None, close_timeout=0.1):
            await flood.connected.wait()
            await service.stop()
            assert watchers.count == 0

    served(flood, scenario)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (b"GET / HTTP/1.1", "This is not RFB 3.3, 3.7 or 3.8."),
        (HELLO + b"\x63", "Message type 99 is unknown."),
        (HELLO + b"\x02\0\xff\xff", "65535 encodings; at most 1024 are taken."),
    ],
)
def test_what_is_no_rfb_ends_that_watcher_only(words: bytes, reason: str) -> None:
    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service) as other, opened(service) as browser:
            await browser.send(words)
            await everything(browser)
            assert (browser.close_code, browser.close_reason) == (1002, reason)
            await other.send(HELLO + BYE)
            assert (await everything(other)).endswith(BYE)

    served(mirror, scenario)


def test_a_message_in_fragments_is_read_as_it_comes() -> None:
    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service) as browser:
            await browser.send([HELLO[:5], HELLO[5:] + key(0x61)[:3], key(0x61)[3:], BYE])
            said = b"RFB 003.008\n" + SHARED_HELLO + key(0x61) + BYE
            assert await everything(browser) == said

    served(mirror, scenario)


NOTHING = b""
HALF_A_FRAGMENT = b"\x02\x85" + bytes(4) + HELLO[:5]


@pytest.mark.parametrize("words", [NOTHING, HELLO[:5], HALF_A_FRAGMENT, HELLO + key(0x61)[:3]])
def test_half_a_message_and_silence_end_the_stream(words: bytes) -> None:
    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service) as browser:
            if words is HALF_A_FRAGMENT:
                browser.transport.write(words)
            elif words:
                await browser.send(words)
            await everything(browser)
            assert browser.close_code == 1002
            assert browser.close_reason == "The rest of a message did not come for 0.2 s."

    served(mirror, scenario, patience=0.2, protocol=Hasty)


def test_a_watcher_that_may_only_look_cannot_act() -> None:
    async def scenario(service: Service, watchers: Viewers) -> None:
        async with connect(service.stream + "?role=view", compression=None) as browser:
            await browser.send(HELLO + key(0x61) + fence(b"seen") + BYE)
            said = b"RFB 003.008\n" + SHARED_HELLO + fence(b"seen") + BYE
            assert await everything(browser) == said

    served(mirror, scenario)


def test_keys_are_let_go_of_when_their_watcher_leaves() -> None:
    heard = bytearray()
    ended = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read())
        ended.set()

    async def scenario(service: Service, watchers: Viewers) -> None:
        async with opened(service) as browser:
            await browser.send(HELLO + key(0xFFE1))
        await ended.wait()

    served(listen, scenario)
    assert heard == SHARED_HELLO + key(0xFFE1) + key(0xFFE1, down=False)
