"""uvicorn's HTTP engine on a fast parser, with a limit to what comes before a body."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD = 64 * 1024
"""Bytes, as in h11, uvicorn's slower parser, which has the limit built in."""


class HeaderSizeLimit(HttpToolsProtocol):
    """One connection; half of each answer's time is saved beside h11."""

    _begun = 0
    """How many requests have begun."""
    _open = False
    """Whether the last of them is still in its head."""
    _taken = 0

    def on_message_begin(self) -> None:
        """Note that a head begins."""
        self._begun += 1
        self._open = True
        self._taken = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Note that the head is over."""
        self._open = False
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Parse what came; refuse a head that does not end."""
        begun = self._begun
        super().data_received(data)
        # What comes with the beginning is not counted: the end of another request's body may
        # be in it, and it is one read at most.
        if self._open and self._begun == begun and not self.transport.is_closing():
            self._taken += len(data)
            if self._taken > LONGEST_HEAD:
                self.send_400_response(f"Headers are over {LONGEST_HEAD} bytes.")
