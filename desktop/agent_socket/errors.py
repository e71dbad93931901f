"""Errors of requests on the agent's socket."""

from deskhand.desktop.errors import DesktopError


class RefusedRequest(DesktopError):
    """The service does not serve this request; ``code`` is for programs, the text for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message
