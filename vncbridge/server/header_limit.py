"""uvicorn's httptools protocol, with a limit to the size of a request's headers."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD = 64 * 1024
"""Bytes, as in h11, uvicorn's other parser, which has this limit built in."""


class HeaderSizeLimit(HttpToolsProtocol):
    """One connection; each response takes half the time of h11."""

    _begun = 0
    """Requests that have begun."""
    _open = False
    """True while the headers of the last request are incomplete."""
    _taken = 0

    def on_message_begin(self) -> None:
        """Start to count the bytes of a request's headers."""
        self._begun += 1
        self._open = True
        self._taken = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Stop counting: the headers are complete."""
        self._open = False
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Parse bytes; refuse headers that are too long."""
        begun = self._begun
        super().data_received(data)
        # The read in which the headers begin is not counted: it may contain the end of another
        # request's body, and it is one read at most.
        if self._open and self._begun == begun and not self.transport.is_closing():
            self._taken += len(data)
            if self._taken > LONGEST_HEAD:
                self.send_400_response(f"Headers are over {LONGEST_HEAD} bytes.")
