"""Errors of the calls of browser members.

BrowserCallFailed       refused or failed; has the status of its answer and a code for programs
PageRequestFailed       the browser refuses one request of the debugging protocol
PageSilent              it does not answer one in time, or the page has gone meanwhile
"""


class BrowserCallFailed(Exception):
    """A call was refused, or failed; the text is for the model."""

    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(status, message, code)
        self.status = status
        self.message = message
        self.code = code
        """Machine-readable, as ``stale_ref``; empty where the status is enough."""

    def __str__(self) -> str:
        return self.message


class PageRequestFailed(Exception):
    """The browser refuses a request of the debugging protocol."""


class PageSilent(Exception):
    """The browser does not answer a request in time, or the page or the browser has ended."""
