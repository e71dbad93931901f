import asyncio
import os
from pathlib import Path

import pytest

from deskhand.desktop.agent_helper.agent_helper import AgentHelper
from deskhand.desktop.agent_helper.pictures import HelperPictures
from deskhand.desktop.agent_helper.worker.server import Operation, OperationResult
from deskhand.desktop.files.errors import BadPath
from deskhand.desktop.geometry import Size
from tests.desktop.agent_helper.threaded import LIMIT, Threaded


def received(content: bytes) -> bytes:
    """Have a helper answer with a file of this content."""

    def picture(*_: object) -> OperationResult:
        descriptor = os.memfd_create("pixels")
        os.write(descriptor, content)
        return OperationResult({}, (descriptor,))

    async def scene() -> bytes:
        start = Threaded(more={"picture": Operation(picture, "picture")})
        async with asyncio.timeout(LIMIT), AgentHelper(start) as helper:
            return await HelperPictures(helper).pixels(Path("/a"), Size(2, 1))

    return asyncio.run(scene())


def test_pixels_of_the_screens_size_are_received() -> None:
    assert received(b"12345678") == b"12345678"


@pytest.mark.parametrize("content", [b"", b"1234567", b"123456789"])
def test_a_helper_under_attack_gives_no_other_pixels(content: bytes) -> None:
    with pytest.raises(BadPath, match="no pixels"):
        received(content)
