"""Adapter of httpcore2: connections that the agent's helper opens, with TLS in the service."""

import asyncio
import select
import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import httpcore2
from anyio.abc import ByteStream, SocketAttribute, SocketStream
from anyio.streams.tls import TLSAttribute, TLSStream

from deskhand.desktop.mcp_client.errors import ServerFailed
from deskhand.desktop.mcp_client.ports import Connect


class AgentNetwork(httpcore2.AsyncNetworkBackend):
    """Opens connections as the agent's commands do."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to a host.

        Raises:
            ServerFailed: If it cannot be reached by the agent.
        """
        try:
            async with asyncio.timeout(timeout):
                connection = await self._connect(host, port)
        except TimeoutError as error:
            raise ServerFailed(f"no connection to {host}:{port} in time") from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise ServerFailed(f"no connection to {host}:{port}: {reason}") from error
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # A server that has gone without a word ends a stream that only it writes to.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            return AgentStream(await SocketStream.from_socket(connection))
        except (OSError, ValueError) as error:
            connection.close()
            raise ServerFailed(f"no connection to {host}:{port}: {error}") from error


class AgentStream(httpcore2.AsyncNetworkStream):
    """One connection."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what has arrived, nothing at the end."""
        with _translated(httpcore2.ReadError, httpcore2.ReadTimeout):
            async with asyncio.timeout(timeout):
                try:
                    return await self._stream.receive(max_bytes)
                except anyio.EndOfStream:
                    return b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send data."""
        if buffer:
            with _translated(httpcore2.WriteError, httpcore2.WriteTimeout):
                async with asyncio.timeout(timeout):
                    await self._stream.send(buffer)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Continue with TLS.

        Raises:
            ServerFailed: If the handshake fails, for example because of the certificate.
        """
        try:
            async with asyncio.timeout(timeout):
                wrapped = await TLSStream.wrap(
                    self._stream,
                    hostname=server_hostname,
                    ssl_context=ssl_context,
                    server_side=False,
                    standard_compatible=False,
                )
        except (TimeoutError, OSError, anyio.BrokenResourceError, anyio.EndOfStream) as error:
            await self.aclose()
            reason = str(error) or "no answer"
            raise ServerFailed(f"no TLS connection to {server_hostname}: {reason}") from error
        except BaseException:
            await self.aclose()
            raise
        return AgentStream(wrapped)

    def get_extra_info(self, info: str) -> Any:
        """Return what the library asks of a connection."""
        match info:
            case "ssl_object":
                return self._stream.extra(TLSAttribute.ssl_object, None)  # noqa: S610 -- no Django
            case "is_readable":
                poll = select.poll()
                raw = self._stream.extra(SocketAttribute.raw_socket)  # noqa: S610 -- no Django
                poll.register(raw, select.POLLIN)
                return bool(poll.poll(0))
        return None


@contextmanager
def _translated(failed: type[Exception], late: type[Exception]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise late from error
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
        raise failed(str(error) or "the connection has ended") from error
