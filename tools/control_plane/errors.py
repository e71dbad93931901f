"""Everything the routes refuse on purpose; one class for each decision of the catcher.

PlaneError
├── PathRefused      the path could be read in two ways (400)
├── PathNotServed    no such path passes to a desktop (404)
├── BadBody          the body is not what the route takes (400)
├── BadCaller        the header that names the calling chat cannot be read (400)
├── NoDesktop        the chat has no desktop to show (400)
├── NoSuchMoment     the film does not show what was asked for (400)
├── NotCut           the film cannot be cut there (409)
└── TooManyStreams   all event streams are taken (429)
"""


class ControlPlaneError(Exception):
    """Base of all errors of the control plane's routes."""


class PathRefused(ControlPlaneError):
    """The path is written in a way that may not pass to a desktop service."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the path {self.reason}"


class PathNotServed(ControlPlaneError):
    """The path is clean, but nothing of that name passes to a desktop service."""

    def __init__(self, prefix: str, served: tuple[str, ...]) -> None:
        super().__init__(prefix, served)
        self.prefix = prefix
        self.served = served

    def __str__(self) -> str:
        return f'"{self.prefix}" does not pass to a desktop; these do: {", ".join(self.served)}'


class BadBody(ControlPlaneError):
    """A request body is not what the route takes."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message, detail)
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class BadCaller(ControlPlaneError):
    """A header that names the calling chat cannot be read."""

    def __init__(self, header: str, value: str) -> None:
        super().__init__(header, value)
        self.header = header
        self.value = value

    def __str__(self) -> str:
        return f"{self.header} must be a UUID, not {self.value[:80]!r}."


class ChatHasNoDesktop(ControlPlaneError):
    """The chat works without a desktop, or has none now."""

    def __str__(self) -> str:
        return "Chat has no desktop."


class NoSuchVideoMoment(ControlPlaneError):
    """A stretch of which a film shows nothing."""

    def __init__(self, asked: str, seconds: float) -> None:
        super().__init__(asked, seconds)
        self.asked = asked
        self.seconds = seconds

    def __str__(self) -> str:
        return f"{self.asked}; the video is {self.seconds:.3f} s long"


class NotCut(ControlPlaneError):
    """The files of a film do not fit together, or cannot be read."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class TooManyStreams(ControlPlaneError):
    """All event streams of this service are taken."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return f"All {self.limit} event streams are in use; close one and try again."
