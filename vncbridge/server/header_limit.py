"""uvicorn's httptools protocol without trailer fields, and with a limit to the size of a head.

The parser collects the fields of a trailer (RFC 9112 section 7.1.2) like those of a head, and
uvicorn would add them to the headers of a request that has been accepted already. RFC 9110 section
6.5.1 permits that for no field which is not defined for it, and we know of none.
"""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD = 64 * 1024
"""Bytes of a head, or of a trailer; for heads, h11, uvicorn's other parser, has it built in."""


class HeaderSizeLimit(HttpToolsProtocol):
    """One connection; each response takes half the time of h11."""

    _steps = 0
    """Beginnings, heads, pieces of bodies and ends that the parser has found."""
    _open = False
    """True while the headers of the last request are incomplete."""
    _taken = 0
    """Bytes since the last step."""

    def on_message_begin(self) -> None:
        """Start to count the bytes of a request's headers."""
        self._steps += 1
        self._open = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a field to the headers, unless it is one of a trailer."""
        if self._open:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Stop counting: the headers are complete."""
        self._steps += 1
        self._open = False
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._steps += 1
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Take the end of a request, after its trailer."""
        self._steps += 1
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """Parse bytes; refuse a head or a trailer that is too long."""
        steps = self._steps
        super().data_received(data)
        # The read in which the headers begin is not counted: it may contain the end of another
        # request's body, and it is one read at most. The same holds for a trailer.
        self._taken = self._taken + len(data) if self._steps == steps else 0
        if self._taken > LONGEST_HEAD and not self.transport.is_closing():
            self._refuse()

    def _refuse(self) -> None:
        if not self._open and self.cycle is not None and self.cycle.response_started:
            # Another response would end up inside of the one that is being sent.
            self.transport.close()
            return
        fields = "Headers are" if self._open else "Trailer fields are"
        self.send_400_response(f"{fields} over {LONGEST_HEAD} bytes.")
