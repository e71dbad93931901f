"""TCP connections of the agent, which the helper opens and the service uses."""

import os
import socket

from .agent_helper import AgentHelper
from .errors import AgentHelperError

_FAMILIES = (socket.AF_INET, socket.AF_INET6)


class HelperConnections:
    """Opens connections with the agent's user, from the agent's network."""

    def __init__(self, helper: AgentHelper) -> None:
        self._helper = helper

    async def __call__(self, host: str, port: int) -> socket.socket:
        """Return a non-blocking socket that is connected; ``host`` is a name or an address.

        Raises:
            OSError: If it cannot be connected.
        """
        try:
            reply = await self._helper.call("connect", host=host, port=port)
            descriptor = reply.descriptor()
        except AgentHelperError as error:
            raise OSError(str(error)) from error
        return _checked(descriptor)


def _checked(descriptor: int) -> socket.socket:
    """Return the socket of a descriptor, which a helper under attack may have sent."""
    try:
        found = socket.socket(fileno=descriptor)
    except OSError:
        os.close(descriptor)
        raise
    if found.family not in _FAMILIES or found.type != socket.SOCK_STREAM:
        found.close()
        raise OSError("the helper sent what is no TCP connection")
    found.setblocking(False)
    return found
