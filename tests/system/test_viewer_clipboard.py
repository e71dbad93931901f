"""The clipboard of a real desktop, shared with RFB clients."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from deskhand.desktop.x11.connection import connect as connect_x
from deskhand.desktop.x11.selection import Content, Selection
from deskhand.vncbridge.rfb.cut_text import ClipboardAction
from deskhand.vncbridge.rfb.messages import EXTENDED_CLIPBOARD
from tests.system.services import Service, until, x_display
from tests.system.test_desktop_clipboard import answering
from tests.system.watching import RfbReader, played, stream, ticket
from tests.vncbridge.rfb.client_messages import HELLO, cut_text, encodings, fence, key

pytestmark = pytest.mark.x11

ROUTE = "/api/v0/desktop/clipboard"
LEASE = "/api/v0/desktop/lease"
SHIFT = key(0xFFE1) + key(0xFFE1, down=False)
FENCE = -312
NONCE = b"all before was read"


class Programs:
    """The programs of a desktop, which copy and paste."""

    def __init__(self, desktop: Service) -> None:
        # Read before a person is in control, who is the only one to have it then.
        self._place: tuple[str, Path] = x_display(desktop)

    @contextmanager
    def _selection(self) -> Iterator[Selection]:
        connection = connect_x(*self._place)
        try:
            yield Selection(connection)
        finally:
            connection.disconnect()

    def paste(self) -> str:
        with self._selection() as selection:
            found = selection.read(("text/plain",))
        return "" if found is None else found.data.decode()

    @asynccontextmanager
    async def copied(self, text: str) -> AsyncIterator[None]:
        with self._selection() as selection:
            selection.own(Content("text/plain", text.encode()))
            with answering(selection):
                yield


@pytest.fixture
def programs(desktop: Service) -> Programs:
    desktop.http.put(ROUTE, content=b"before").raise_for_status()
    return Programs(desktop)


class Client(RfbReader):
    """An RFB client that requests no pixels, so that nothing else arrives."""

    async def begin(self) -> None:
        await self.greet(HELLO + encodings(0, FENCE))
        # The server announces once that it supports fences.
        announced = await self.read(9)
        await self.read(announced[8])

    async def say(self, message: bytes) -> None:
        await self._socket.send(message)

    async def act(self, action: ClipboardAction, content: bytes = b"") -> None:
        await self.say(cut_text((action | 1).to_bytes(4) + content, extended=True))

    async def text(self) -> str:
        """Return the next plain cut text."""
        head = await self.read(8)
        assert head[0] == 3
        return (await self.read(int.from_bytes(head[4:]))).decode("latin-1")

    async def action(self) -> tuple[ClipboardAction, bytes]:
        """Return the next extended one."""
        head = await self.read(8)
        assert head[0] == 3
        content = await self.read(-int.from_bytes(head[4:], signed=True))
        assert content[3] == 1
        return ClipboardAction(int.from_bytes(content[:4]) - 1), content[4:]

    async def answered(self) -> None:
        """Return when the server has read all messages so far; no cut text may come before."""
        await self.say(fence(NONCE)[:4] + b"\x80\0\0\0" + fence(NONCE)[8:])
        assert (await self.read(9 + len(NONCE))).endswith(NONCE)


@asynccontextmanager
async def client(desktop: Service, **query: str) -> AsyncIterator[Client]:
    granted = "view" if query.get("role") == "view" else "control"
    address = stream(desktop, ticket=await asyncio.to_thread(ticket, desktop, granted), **query)
    async with connect(address, compression=None, max_size=None) as socket:
        found = Client(socket)
        await found.begin()
        yield found


async def take(desktop: Service, name: str) -> None:
    body = {"action": "take", "name": name, "private": False}
    await asyncio.to_thread(desktop.post, LEASE, body)


@pytest.mark.parametrize("role", ["control", "agent"])
def test_a_plain_clients_clipboard_goes_both_ways(
    desktop: Service, programs: Programs, role: str
) -> None:
    async def share() -> None:
        async with client(desktop, role=role) as found:
            # Without control it is only offered.
            await found.say(cut_text("from the viewer: ä".encode("latin-1")))
            await found.answered()
            assert programs.paste() == "before"
            # The press takes control, and the text is copied first.
            await found.say(SHIFT)
            await found.answered()
            assert programs.paste() == "from the viewer: ä"
            async with programs.copied("from the desktop: é世"):
                assert await found.text() == "from the desktop: é?"
            await found.say(cut_text(b"again"))
            await found.answered()
            assert programs.paste() == "again"

    played(share())


@pytest.mark.parametrize("role", ["view", "control", "agent"])
def test_the_clipboard_is_only_for_the_viewer_in_control(
    desktop: Service, programs: Programs, role: str
) -> None:
    async def share() -> None:
        async with (
            client(desktop, name="Ann") as ann,
            client(desktop, role=role, name="Bob") as bob,
        ):
            await take(desktop, "Ann")
            await bob.say(cut_text(b"of a stranger") + SHIFT)
            await bob.answered()
            assert programs.paste() == "before"
            async with programs.copied("for Ann"):
                assert await ann.text() == "for Ann"
                await bob.answered()

    played(share())


def test_an_older_offer_does_not_replace_what_a_program_copied(
    desktop: Service, programs: Programs
) -> None:
    async def share() -> None:
        async with client(desktop, name="Ann") as ann, client(desktop, name="Bob") as bob:
            await take(desktop, "Bob")
            await ann.say(cut_text(b"old"))
            await ann.answered()
            async with programs.copied("newer"):
                assert await bob.text() == "newer"
                await take(desktop, "Ann")
                await ann.say(SHIFT)
                await ann.answered()
                assert programs.paste() == "newer"

    played(share())


def test_what_a_client_copied_in_private_is_gone_after_the_hand_back(
    desktop: Service, programs: Programs
) -> None:
    async def share() -> None:
        async with client(desktop, name="Ann") as ann:
            # A press takes control in private.
            await ann.say(SHIFT + cut_text(b"a secret"))
            await ann.answered()
            assert programs.paste() == "a secret"
            release = {"action": "release", "name": "Ann"}
            await asyncio.to_thread(desktop.post, LEASE, release)
            until(lambda: programs.paste() == "before", "the clipboard of before")

    played(share())


def packed(text: str) -> bytes:
    data = text.encode() + b"\0"
    return zlib.compress(len(data).to_bytes(4) + data)


@pytest.mark.parametrize("length", [12, 300_000])
def test_extended_clipboard_goes_both_ways(
    desktop: Service, programs: Programs, length: int
) -> None:
    text = ("мир, 世界\n👩‍👩‍👧" * length)[:length]
    in_lines = text.replace("\n", "\r\n")

    async def share() -> None:
        async with client(desktop) as found:
            await found.say(encodings(0, FENCE, EXTENDED_CLIPBOARD) + SHIFT)
            assert await found.action() == (sum(ClipboardAction), bytes(4))
            await found.act(
                ClipboardAction.CAPS | ClipboardAction.REQUEST | ClipboardAction.NOTIFY, bytes(4)
            )
            await found.act(ClipboardAction.NOTIFY)
            assert await found.action() == (ClipboardAction.REQUEST, b"")
            await found.act(ClipboardAction.PROVIDE, packed(in_lines))
            await found.answered()
            assert programs.paste() == text
            async with programs.copied(text):
                assert await found.action() == (ClipboardAction.NOTIFY, b"")
                await found.act(ClipboardAction.REQUEST)
                said, content = await found.action()
                assert said == ClipboardAction.PROVIDE
                assert zlib.decompress(content) == zlib.decompress(packed(in_lines))

    played(share())
