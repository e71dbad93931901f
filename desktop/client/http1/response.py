"""Responses of HTTP/1.1, read from bytes as they arrive (RFC 9112). Pure."""

from dataclasses import dataclass
from typing import Any

from httptools import HttpParserError, HttpResponseParser

_FIRST_FINAL = 200
"""Responses with a smaller status precede the final one (RFC 9110, 15.2)."""


class BrokenResponse(Exception):
    """The service sent something else than a response."""


@dataclass(frozen=True)
class ResponseHead:
    """Status and fields of a response; the names of the fields are in lower case."""

    status: int
    fields: tuple[tuple[bytes, bytes], ...]
    keeps_alive: bool
    """True if the connection can serve another request."""


@dataclass(frozen=True)
class WholeResponse:
    """A complete response."""

    head: ResponseHead
    content: bytes


class ResponseReader:
    """Reads one response; the methods named ``on_`` are called by httptools.

    ``has_content`` is False for the response to HEAD, whose fields are those of a GET.
    """

    def __init__(self, *, has_content: bool = True) -> None:
        # httptools has no types.
        self._parser: Any = HttpResponseParser(self)
        self._has_content = has_content
        self._fields: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []
        self._has_length = False
        self.head: ResponseHead | None = None
        self.is_complete = False
        self.has_begun = False
        """True after the first byte."""
        self.waiting = 0
        """Bytes of content that were received and not taken."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes.

        Raises:
            BrokenResponse: If these are not bytes of a response, or more than that.
        """
        self.has_begun = True
        if self.is_complete:
            raise BrokenResponse("the service sent more than its answer")
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            raise BrokenResponse(f"the service sent no HTTP: {error}") from error

    def end(self) -> None:
        """Take the end of the connection; that of some responses is the same."""
        if self.head is not None and not self._has_length and not self.head.keeps_alive:
            self.is_complete = True

    def take(self) -> bytes:
        """Return the content that was received since the last call."""
        pieces, self._pieces = self._pieces, []
        self.waiting = 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head; those of a trailer are dropped."""
        if self.head is not None:
            return
        lower = name.lower()
        self._has_length |= lower in (b"content-length", b"transfer-encoding")
        self._fields.append((lower, value))

    def on_headers_complete(self) -> None:
        """Take the end of the head."""
        status = self._parser.get_status_code()
        if status < _FIRST_FINAL:
            self._fields.clear()
            return
        # Later the parser answers for the next message.
        keeps_alive = self._parser.should_keep_alive()
        self.head = ResponseHead(status, tuple(self._fields), keeps_alive)
        self.is_complete = not self._has_content

    def on_body(self, data: bytes) -> None:
        """Take a piece of the content."""
        self._pieces.append(data)
        self.waiting += len(data)

    def on_message_complete(self) -> None:
        """Take the end of the content."""
        self.is_complete = self.head is not None
