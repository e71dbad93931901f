"""The commands of one WebSocket, performed in their order.

Messages are read while a command is performed, so that a client that disconnects ends it. Then the
keys and the button that the client holds are released.
"""

import asyncio
from collections.abc import Awaitable, Callable

from deskhand.vncbridge.websocket.client_stream import ClientStream, CloseReason, StreamEnded

from .errors import RefusedCommand
from .held_keys import HeldKeys
from .messages import CommandRequest, failure, websocket_answer, websocket_request
from .route_call import Json

WAITING = 16
"""Messages that wait for the command in progress."""


class CuaConnection:
    """Answers each message of one client."""

    def __init__(self, run: Callable[[CommandRequest], Awaitable[Json]]) -> None:
        self._run = run
        self._held = HeldKeys()
        self._messages = asyncio.Queue[bytes | str](WAITING)

    async def serve(self, stream: ClientStream) -> CloseReason:
        """Serve until the client disconnects; return the reason."""
        reason = CloseReason(1000)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._answer(stream))
                while True:
                    await self._messages.put(await stream.receive())
        except* StreamEnded as ended:
            found = ended.exceptions[0]
            if isinstance(found, StreamEnded):
                reason = found.close_reason
        finally:
            for release in self._held.releases():
                await self._run(release)
        return reason

    async def _answer(self, stream: ClientStream) -> None:
        while True:
            await stream.send(await self._answer_to(await self._messages.get()))

    async def _answer_to(self, message: bytes | str) -> str:
        try:
            asked = websocket_request(message)
        except RefusedCommand as error:
            return websocket_answer(None, failure(error))
        if asked is None:
            return websocket_answer(None, {})
        self._held.note(asked)
        return websocket_answer(asked, await self._run(asked))
