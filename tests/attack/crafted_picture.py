"""Screenshots that harm the program that decodes them, on their way to a model."""

import struct
import time
import zlib
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.conversation import Message, Text, ToolCall, ToolResult
from deskhand.tools.store import messages, turns
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.pictures import ChatPictures
from deskhand.tools.store.stored_files import StoredFiles
from tests.tools.store.fakes import chat_row

CHAT = "pictured"
SHOWN, REAL = (640, 360), (7990, 7990)
"""Size of the first header, which is what a reader of headers finds, and of the second."""
CALL = "toolu_r0s1t0c_0_0123456789ab"
"""The step before the one in which the script ``tour`` compares screenshots."""


def bomb() -> bytes:
    """Return a PNG of 250 KB that takes 900 MB to decode."""
    row = b"\0" * (1 + 4 * REAL[0])
    packer = zlib.compressobj(9)
    pixels = b"".join([*(packer.compress(row) for _ in range(REAL[1])), packer.flush()])
    headers = b"".join(_chunk(b"IHDR", struct.pack(">IIBBBBB", *size, 8, 6, 0, 0, 0))
                       for size in (SHOWN, REAL))  # fmt: skip
    return b"\x89PNG\r\n\x1a\n" + headers + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def endless(profiles: int = 4000) -> bytes:
    """Return a PNG of 4 MB with colour profiles, each of which takes 2 ms to unpack."""
    profile = _chunk(b"iCCP", b"p\0\0" + zlib.compress(bytes(1_000_000), 9))
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", *SHOWN, 8, 6, 0, 0, 0))
    row = b"\0" * (1 + 4 * SHOWN[0])
    pixels = _chunk(b"IDAT", zlib.compress(row * SHOWN[1]))
    return b"\x89PNG\r\n\x1a\n" + head + profile * profiles + pixels + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


async def fill_conversation(data: Path, picture: bytes) -> None:
    """Store a chat that works: its newest result is the picture."""
    async with await Store.open(data / "deskhand.db") as store:

        async def begin(db: AsyncSession) -> None:
            chat = chat_row(CHAT)
            chat.state, chat.mode = "running", "computer_use"
            db.add(chat)
            await db.flush()
            await turns.begin(db, chat, time.time())

        await store.write(begin)
        files = StoredFiles(store, FileStore(data / "files"), time.time)
        image = await ChatPictures(files, CHAT, time.time).save(picture, "image/png", *SHOWN)
        call = ToolCall(CALL, "screenshot", {}, toolset="computer")
        said = (
            Message("user", (Text("Look at the screen."),)),
            Message("assistant", (call,)),
            Message("user", (ToolResult(CALL, (image,), toolset="computer"),)),
        )

        async def write(db: AsyncSession) -> None:
            for message in said:
                await messages.append(db, CHAT, message, time.time())

        await store.write(write)
