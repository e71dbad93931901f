"""Reading of a streamed reply from an HTTP response of an SDK."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

import httpx2

from .attempts import AttemptFailed, RetryPolicy
from .port import ModelReply, RequestTimes


class ReplyStream(Protocol):
    """Parser of one streamed reply."""

    @property
    def text(self) -> str:
        """The text so far."""

    def feed(self, data: bytes) -> Iterator[bool]:
        """Parse the next bytes; yield for each event that is progress whether it added text."""

    def result(self) -> ModelReply | None:
        """Return the reply after the end of the stream; ``None`` if it is incomplete."""


async def read_reply(
    answered: Awaitable[httpx2.Response],
    reply: ReplyStream,
    policy: RetryPolicy,
    on_text: Callable[[str], None],
) -> ModelReply:
    """Read a response to its end; the reply has the time of its first byte.

    Raises:
        AttemptFailed: If the response ended before the reply.
        TimeoutError: If the first event, or another one after it, did not come in time.
    """
    loop = asyncio.get_running_loop()
    began, first_byte = loop.time(), 0.0
    async with asyncio.timeout(policy.first_chunk) as limit:
        # The SDKs' own streams leave their generators to the garbage collector after an error. The
        # bytes are read to their end, or closed, here.
        async with (
            aclosing(await answered) as answer,
            aclosing(answer.aiter_bytes()) as pieces,
        ):
            async for piece in pieces:
                first_byte = first_byte or loop.time() - began
                for has_text in reply.feed(piece):
                    # Only progress extends the limit: a provider that only sends pings makes none.
                    limit.reschedule(loop.time() + policy.silence)
                    if has_text:
                        on_text(reply.text)
    result = reply.result()
    if result is None:
        raise AttemptFailed("the answer was cut off")
    return replace(result, times=RequestTimes(first_byte=first_byte))


def retry_after(response: httpx2.Response) -> float:
    """Return the seconds of ``Retry-After``, 0 without it."""
    # The form with a date is not read: providers send seconds.
    given = response.headers.get("retry-after", "")
    return float(given) if given.isdigit() else 0.0
