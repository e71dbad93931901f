"""Connections to the agent's message buses, made by the helper."""

import socket

from .agent_helper import AgentHelper
from .errors import AgentHelperError


class HelperBuses:
    """Opens authenticated sockets, for threads other than that of the event loop."""

    def __init__(self, helper: AgentHelper) -> None:
        self._helper = helper

    def __call__(self, address: str) -> socket.socket:
        """Connect to a bus. Blocks, so it must not be called on the event loop.

        Raises:
            OSError: If there is no such bus, or it does not answer.
        """
        try:
            descriptor = self._helper.call_blocking("bus", address=address).descriptor()
        except AgentHelperError as error:
            raise OSError(str(error)) from error
        return socket.socket(fileno=descriptor)
