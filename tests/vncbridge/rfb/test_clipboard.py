import asyncio
import struct

from deskhand.vncbridge.rfb import cut_text as messages
from deskhand.vncbridge.rfb.clipboard import ViewerClipboard
from deskhand.vncbridge.rfb.cut_text import LONGEST, ClipboardAction
from deskhand.vncbridge.rfb.messages import EXTENDED_CLIPBOARD, ClientParser
from tests.vncbridge.rfb.client_messages import HELLO, cut_text, encodings

BELL = b"\x02"
INIT = bytes(4) + struct.pack(">BBBBHHHBBBxxx", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0) + bytes(4)
GREETING = b"RFB 003.008\n\x01\x01" + bytes(4) + INIT


class Desktop:
    """A clipboard, and whether the viewer is in control."""

    def __init__(self) -> None:
        self.content: str | None = None
        self.in_control = True
        self.control_ends = False
        self.client = ClientParser()
        self.viewer = ViewerClipboard(self, lambda: self.in_control)
        self.say(HELLO)
        self.viewer.insert(GREETING)

    async def copy(self, text: str) -> None:
        self.content = text

    async def text(self) -> str | None:
        self.in_control = self.in_control and not self.control_ends
        return self.content

    def say(self, data: bytes) -> None:
        for message in self.client.feed(data):
            self.viewer.receive(message)

    def say_extended(self, action: ClipboardAction, content: bytes = b"") -> None:
        self.say(cut_text((action | 1).to_bytes(4) + content, extended=True))

    def copied(self, text: str | None) -> None:
        self.content = text
        self.viewer.copied()

    def heard(self) -> bytes:
        asyncio.run(asyncio.wait_for(self.viewer.wait(), 5))
        return self.viewer.idle()


def test_the_newest_offer_is_copied_once() -> None:
    desktop = Desktop()
    desktop.say(cut_text(b"a") + cut_text(b"b"))
    assert desktop.viewer.offers
    asyncio.run(desktop.viewer.copy_offer())
    assert (desktop.content, desktop.viewer.offers) == ("b", False)
    desktop.content = "c"
    asyncio.run(desktop.viewer.copy_offer())
    assert desktop.content == "c"


def test_a_text_that_is_too_long_is_neither_offered_nor_sent() -> None:
    desktop = Desktop()
    desktop.say(cut_text(bytes(LONGEST + 1)))
    assert not desktop.viewer.offers
    desktop.copied("a" * (LONGEST + 1))
    assert desktop.heard() == b""


def test_a_plain_client_gets_the_newest_text_between_two_messages() -> None:
    desktop = Desktop()
    cut = messages.plain("new")
    desktop.viewer.insert(b"\x03")
    desktop.copied("old")
    assert desktop.heard() == b""
    desktop.copied("new")
    assert desktop.heard() == b""
    rest = messages.plain("")[1:]
    assert desktop.viewer.insert(rest[:2]) == rest[:2]
    assert desktop.viewer.insert(rest[2:] + BELL + b"\x03") == rest[2:] + BELL + cut + b"\x03"
    assert desktop.viewer.insert(rest) == rest


def test_without_control_a_client_gets_nothing() -> None:
    desktop = Desktop()
    desktop.control_ends = True
    desktop.copied("while it was read")
    assert desktop.heard() == b""
    desktop.copied("for another")
    desktop.say_extended(ClipboardAction.REQUEST)
    assert desktop.heard() == b""
    desktop.say_extended(ClipboardAction.PEEK)
    assert desktop.viewer.idle() == b""


def test_a_client_without_a_text_to_get_gets_nothing() -> None:
    desktop = Desktop()
    desktop.copied(None)
    assert desktop.heard() == b""


def test_an_extended_client_is_notified_and_requests() -> None:
    desktop = Desktop()
    desktop.say(2 * encodings(EXTENDED_CLIPBOARD))
    assert desktop.heard() == messages.capabilities()
    desktop.copied("text")
    assert desktop.heard() == messages.notice()
    desktop.say_extended(ClipboardAction.PEEK)
    assert desktop.heard() == messages.notice()
    desktop.say_extended(ClipboardAction.REQUEST)
    assert desktop.heard() == messages.provided("text")
    # One that cannot be notified gets the text at once.
    desktop.say_extended(ClipboardAction.CAPS | ClipboardAction.PROVIDE, bytes(4))
    desktop.copied("more")
    assert desktop.heard() == messages.provided("more")


def test_the_text_of_an_extended_client_is_requested() -> None:
    desktop = Desktop()
    desktop.say_extended(ClipboardAction.NOTIFY)
    assert desktop.heard() == messages.request()
    desktop.say_extended(ClipboardAction.PROVIDE, messages.provided("世")[12:])
    assert desktop.viewer.offers
    # It has none any more.
    desktop.say(cut_text(ClipboardAction.NOTIFY.to_bytes(4), extended=True))
    assert not desktop.viewer.offers
