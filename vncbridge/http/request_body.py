"""The body of a request that is sent on, and then the disconnection of its client."""

import asyncio
from collections.abc import AsyncGenerator

from starlette.types import Receive

from deskhand.vncbridge.errors import ClientGone

from .disconnect import disconnected


class RequestBody:
    """Body of a request, and the disconnection of its sender.

    Both arrive over the same ``receive``, which only one task may await at a time. Therefore the
    disconnection is awaited only after the body was read.
    """

    def __init__(self, receive: Receive, *, expected: bool = True) -> None:
        """Take the channel of a request; one without a body is not ``expected`` to have one."""
        self._receive = receive
        self._read = asyncio.Event()
        self.expected = expected
        if not expected:
            self._read.set()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the chunks of the body; the next is received when the last was sent on.

        Raises:
            ClientGone: If the client disconnects before.
        """
        while not self._read.is_set():
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            if not message.get("more_body", False):
                self._read.set()
            yield message.get("body", b"")

    async def abandoned(self) -> None:
        """Return when the client has disconnected after sending its body."""
        await self._read.wait()
        await disconnected(self._receive)
