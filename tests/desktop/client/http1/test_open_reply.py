"""Lines of answers that arrive in pieces of any size."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from deskhand.desktop.client.http1.open_reply import OpenReply

CONTENT = "first\r\nsecönd\n\n\u2028 is no end of a line\nlast".encode()
LINES = ["first", "secönd", "", "\u2028 is no end of a line", "last"]


class Pieces(OpenReply):
    """An answer whose pieces are given."""

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__(200, ((b"Content-Type", b"text/plain"), (b"content-type", b"b")))
        self._pieces = pieces

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        for piece in self._pieces:
            yield piece


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_lines_are_the_same_however_the_content_arrives(size: int) -> None:
    async def scenario() -> list[str]:
        pieces = [CONTENT[at : at + size] for at in range(0, len(CONTENT), size)]
        return [line async for line in Pieces(pieces).lines()]

    assert asyncio.run(scenario()) == LINES


def test_content_that_ends_with_a_line_has_no_empty_one_behind_it() -> None:
    async def scenario() -> list[str]:
        return [line async for line in Pieces([b"a\n"]).lines()]

    assert asyncio.run(scenario()) == ["a"]


def test_the_first_value_of_a_field_is_found_whatever_its_case() -> None:
    reply = Pieces([])
    assert reply.header("content-type") == "text/plain"
    assert reply.header("etag") == ""
