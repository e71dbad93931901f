"""Answers whose content is still being received."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager

import httpx2

from deskhand.desktop.errors import DesktopUnavailable
from deskhand.desktop.server_trust.server_trust import CA_FILE

from .connection import Connection, ConnectionLost
from .response import BrokenResponse, ResponseHead

_LINE_END = b"\n"


class OpenReply(ABC):
    """An answer of any status, with its content to be read once."""

    def __init__(self, status: int, fields: Sequence[tuple[bytes, bytes]]) -> None:
        self.status = status
        self.fields = fields
        """Names and values as they were received."""

    def header(self, name: str) -> str:
        """Return the first value of a field, whose name is in lower case; empty without one."""
        wanted = name.encode()
        found = (value for key, value in self.fields if key.lower() == wanted)
        return next(found, b"").decode("latin-1")

    @abstractmethod
    def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the content as it arrives, in pieces of any size.

        Raises:
            DesktopUnavailable: If the service breaks off.
        """

    async def read(self) -> bytes:
        """Return the whole content; raises as `chunks`."""
        return b"".join([chunk async for chunk in self.chunks()])

    async def lines(self) -> AsyncGenerator[str, None]:
        """Yield the lines of the content without their ends; raises as `chunks`."""
        begun: list[bytes] = []
        async for chunk in self.chunks():
            first, *others = chunk.split(_LINE_END)
            begun.append(first)
            if others:
                for line in (b"".join(begun), *others[:-1]):
                    yield _text(line)
                begun = others[-1:]
        if last := b"".join(begun):
            yield _text(last)


class DirectReply(OpenReply):
    """An answer that is received on a connection of its own."""

    def __init__(self, head: ResponseHead, connection: Connection) -> None:
        super().__init__(head.status, head.fields)
        self._connection = connection

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the content as it arrives."""
        with unavailable():
            while data := await self._connection.piece():
                yield data


class HttpxReply(OpenReply):
    """An answer of httpx2, from a service elsewhere."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(response.status_code, response.headers.raw)
        self._response = response

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the content as it arrives."""
        with unavailable():
            async for data in self._response.aiter_raw():
                yield data


@contextmanager
def unavailable() -> Iterator[None]:
    """Raise what prevents an answer as :class:`DesktopUnavailable`."""
    try:
        yield
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise DesktopUnavailable("no answer in time") from error
    except (ConnectionLost, BrokenResponse, OSError, httpx2.TransportError) as error:
        raise DesktopUnavailable(_broken(str(error))) from error


def _broken(reason: str) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        why = reason.rpartition("failed: ")[2].partition(" (_ssl")[0]
        return f"its certificate is not trusted: {why}; name the file of its CA in {CA_FILE}"
    return reason or "the connection was broken off"


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode(errors="replace")
