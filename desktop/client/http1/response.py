"""Responses of HTTP/1.1, read from bytes as they arrive (RFC 9112). Pure."""

from dataclasses import dataclass
from typing import Any

from httptools import HttpParserError, HttpResponseParser

_FIRST_FINAL = 200
"""Responses with a smaller status precede the final one (RFC 9110, 15.2)."""


class BrokenResponse(Exception):
    """The service sent something else than a response."""


@dataclass(frozen=True)
class WholeResponse:
    """A complete response."""

    status: int
    fields: tuple[tuple[bytes, bytes], ...]
    content: bytes
    keeps_alive: bool
    """True if the connection can serve another request."""


class ResponseReader:
    """Reads one response; the methods named ``on_`` are called by httptools."""

    def __init__(self) -> None:
        # httptools has no types.
        self._parser: Any = HttpResponseParser(self)
        self._fields: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []
        self._has_length = False
        self._has_head = False
        self._is_complete = False
        self._keeps_alive = False
        self.has_begun = False
        """True after the first byte."""

    def feed(self, data: bytes) -> WholeResponse | None:
        """Take the next bytes; return the response once it is complete.

        Raises:
            BrokenResponse: If these are not bytes of a response, or more than that.
        """
        self.has_begun = True
        if self._is_complete:
            raise BrokenResponse("the service sent more than its answer")
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            raise BrokenResponse(f"the service sent no HTTP: {error}") from error
        return self._answer() if self._is_complete else None

    def end(self) -> WholeResponse | None:
        """Return the response whose end is that of the connection, None if it is incomplete."""
        whole = self._has_head and not self._has_length and not self._keeps_alive
        return self._answer() if whole else None

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head."""
        lower = name.lower()
        self._has_length |= lower in (b"content-length", b"transfer-encoding")
        self._fields.append((lower, value))

    def on_headers_complete(self) -> None:
        """Take the end of the head."""
        if self._parser.get_status_code() < _FIRST_FINAL:
            self._fields.clear()
        else:
            self._has_head = True
            # Later the parser answers for the next message.
            self._keeps_alive = self._parser.should_keep_alive()

    def on_body(self, data: bytes) -> None:
        """Take a piece of the content."""
        self._pieces.append(data)

    def on_message_complete(self) -> None:
        """Take the end of the content."""
        self._is_complete = self._has_head

    def _answer(self) -> WholeResponse:
        status, content = self._parser.get_status_code(), b"".join(self._pieces)
        return WholeResponse(status, tuple(self._fields), content, self._keeps_alive)
