import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.request_body import RequestBody

Message = dict[str, Any]


def receiving(*messages: Message) -> Callable[[], Awaitable[Message]]:
    left = iter(messages)

    async def receive() -> Message:
        return next(left)

    return receive


def test_a_body_is_read_in_its_chunks_before_the_disconnection() -> None:
    async def scenario() -> None:
        body = RequestBody(
            receiving(
                {"type": "http.request", "body": b"one", "more_body": True},
                {"type": "http.request", "more_body": True},
                {"type": "http.request", "body": b"two"},
                {"type": "http.disconnect"},
            )
        )
        abandoned = asyncio.create_task(body.abandoned())
        await asyncio.sleep(0)
        assert [chunk async for chunk in body.chunks()] == [b"one", b"", b"two"]
        await abandoned

    asyncio.run(scenario())


def test_a_client_that_goes_within_its_body_is_reported() -> None:
    async def scenario() -> None:
        messages = ({"type": "http.request", "more_body": True}, {"type": "http.disconnect"})
        with pytest.raises(ClientGone):
            [chunk async for chunk in RequestBody(receiving(*messages)).chunks()]

    asyncio.run(scenario())


def test_a_request_without_a_body_is_only_waited_for() -> None:
    async def scenario() -> None:
        body = RequestBody(receiving({"type": "http.disconnect"}), expected=False)
        assert [chunk async for chunk in body.chunks()] == []
        await body.abandoned()

    asyncio.run(scenario())
