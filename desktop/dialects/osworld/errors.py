"""Errors of OSWorld's routes."""

from deskhand.desktop.errors import DesktopError


class OsworldRefusal(DesktopError):
    """A request is answered with an error; ``fields`` are its JSON body."""

    def __init__(self, status: int, fields: dict[str, object]) -> None:
        super().__init__(status, fields)
        self.status = status
        self.fields = fields


class BadOsworldRequest(OsworldRefusal):
    """The request is malformed."""

    def __init__(self, message: str) -> None:
        super().__init__(400, {"status": "error", "message": message, "error": message})


class OsworldFailure(OsworldRefusal):
    """What was requested failed, or could not be started."""

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(500, {"status": "error", "message": message, "error": message, **fields})
