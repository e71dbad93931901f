"""Connections to the agent's message buses, made by the helper."""

import asyncio
import socket

from .agent_helper import AgentHelper
from .errors import AgentHelperError

CALL_SECONDS = 5.0
"""Time for the helper to answer."""


class HelperBuses:
    """Opens authenticated sockets, for threads other than that of the event loop."""

    def __init__(self, helper: AgentHelper, loop: asyncio.AbstractEventLoop) -> None:
        self._helper = helper
        self._loop = loop

    def __call__(self, address: str) -> socket.socket:
        """Connect to a bus. Blocks, so it must not be called on the event loop.

        Raises:
            OSError: If there is no such bus, or it does not answer.
        """
        call = asyncio.run_coroutine_threadsafe(self._connect(address), self._loop)
        try:
            return call.result(CALL_SECONDS)
        except (AgentHelperError, TimeoutError) as error:
            call.cancel()
            raise OSError(str(error) or "the helper does not answer") from error

    async def _connect(self, address: str) -> socket.socket:
        descriptor = (await self._helper.call("bus", address=address)).descriptor()
        return socket.socket(fileno=descriptor)
