"""Pictures of servers: verified, stored, and shown to the model."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow

from deskhand.tools.agents.foreign_pictures.foreign_pictures import LARGEST, StoredForeignPictures
from deskhand.tools.conversation.conversation import Image, ToolResult
from deskhand.tools.decoder.errors import NotDecodable
from deskhand.tools.kit.mcp_tools import CALL, UnusablePicture
from tests.tools.agents.chats.fakes import (
    FakeMachines,
    OpenChats,
    ScriptedModel,
    call,
    open_chats,
    report,
)

Json = dict[str, Any]


def picture(kind: str = "PNG", width: int = 4, height: int = 3) -> bytes:
    made = BytesIO()
    Pillow.new("RGB", (width, height), (9, 8, 7)).save(made, kind)
    return made.getvalue()


def pixels(data: bytes) -> tuple[int, int, bytes]:
    """Decode in this process."""
    try:
        with Pillow.open(BytesIO(data)) as found:
            return *found.size, found.tobytes()
    except OSError as error:
        raise NotDecodable("it is no picture") from error


def run(
    folder: Path, scenario: Callable[[StoredForeignPictures, OpenChats], Awaitable[None]]
) -> None:
    async def inside() -> None:
        async with open_chats(folder) as p:
            await scenario(StoredForeignPictures(p.files, pixels, lambda: 1e9), p)

    asyncio.run(inside())


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_is_stored_with_the_type_of_its_bytes(tmp_path: Path, kind: str) -> None:
    async def scenario(pictures: StoredForeignPictures, p: OpenChats) -> None:
        chat = await p.caller()
        kept = await pictures.keep(chat, picture(kind))
        assert (kept.media_type, kept.width, kept.height) == (f"image/{kind.lower()}", 4, 3)

    run(tmp_path, scenario)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GIF89a", "neither PNG, JPEG nor WebP"),
        (picture()[:40], "it is no picture"),
        (picture(width=1281), "1281x3, at most 1280x720"),
        (picture(height=721), "4x721, at most 1280x720"),
        (picture() + bytes(LARGEST), "bytes, at most 200000"),
    ],
)
def test_an_unusable_picture_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    async def scenario(pictures: StoredForeignPictures, p: OpenChats) -> None:
        with pytest.raises(UnusablePicture, match=reason):
            await pictures.keep(await p.caller(), data)

    run(tmp_path, scenario)


class Machines(FakeMachines):
    """Desktops with a server whose tool returns a picture."""

    async def acquire(self, *arguments: Any, **options: Any) -> str:
        desktop = await super().acquire(*arguments, **options)
        data = base64.b64encode(picture()).decode()
        block = {"type": "image", "text": "", "media_type": "text/html", "data": data}
        self.desktops[desktop].answers = {
            "/api/v0/mcp/tools": {"tools": [], "servers": []},
            "/api/v0/mcp/call-tool": {"content": [block], "is_error": False},
        }
        return desktop


def test_a_model_sees_the_picture_and_its_step_shows_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[call(CALL, tool_name="a__draw")], [report("Done")]])
        async with open_chats(tmp_path, {"child": model}, machines=Machines(), pixels=pixels) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await p.until(chat.id, "waiting")
            (step,) = await p.chats.steps(chat.id)
            (result,) = (
                block
                for message in model.prompts[-1].messages
                for block in message.content
                if isinstance(block, ToolResult)
            )
            (shown,) = (one for one in result.content if isinstance(one, Image))
            assert (shown.media_type, shown.width, shown.height) == ("image/png", 4, 3)
            assert step.screenshot_file_id == shown.file_id

    asyncio.run(scenario())
