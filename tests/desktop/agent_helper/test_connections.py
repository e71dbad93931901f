"""Connections that the helper opens and the service uses."""

import asyncio
import os
import socket
import tempfile
from collections.abc import Awaitable, Callable

import pytest

from deskhand.desktop.agent_helper.agent_helper import AgentHelper
from deskhand.desktop.agent_helper.connections import HelperConnections
from deskhand.desktop.agent_helper.worker.server import CallContext, Operation, OperationResult
from tests.desktop.agent_helper.threaded import LIMIT, Threaded


def run(
    scenario: Callable[[HelperConnections], Awaitable[None]], more: dict[str, Operation]
) -> None:
    async def inside() -> None:
        async with asyncio.timeout(LIMIT), AgentHelper(Threaded(more=more)) as helper:
            await scenario(HelperConnections(helper))

    asyncio.run(inside())


def test_a_port_is_connected_and_a_failure_is_an_error() -> None:
    async def scenario(connect: HelperConnections) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with await connect("127.0.0.1", port) as connection:
                assert connection.getpeername() == ("127.0.0.1", port)
        with pytest.raises(ConnectionRefusedError):
            await connect("127.0.0.1", port)
        with pytest.raises(OSError, match="UnicodeEncodeError"):
            await connect("é.test", port)

    run(scenario, {})


@pytest.mark.parametrize("what", ["file", "unix", "datagram"])
def test_a_descriptor_that_is_no_tcp_connection_is_refused(what: str) -> None:
    def operation(_: object, call: CallContext) -> OperationResult:
        match what:
            case "file":
                with tempfile.TemporaryFile() as file:
                    return OperationResult({}, (os.dup(file.fileno()),))
            case "unix":
                return OperationResult({}, (socket.socket(socket.AF_UNIX).detach(),))
        return OperationResult({}, (socket.socket(type=socket.SOCK_DGRAM).detach(),))

    async def scenario(connect: HelperConnections) -> None:
        with pytest.raises(OSError):  # noqa: PT011 -- of several kinds
            await connect("127.0.0.1", 1)

    run(scenario, {"connect": Operation(operation)})
