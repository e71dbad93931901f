"""Errors of the routes: one class for each response to the client.

ControlPlaneError
├── PathRefused         two programs could read the path in different ways (400)
├── PathNotServed       the path is not one of a desktop service (404)
├── BadBody             the body is not one that the route accepts (400)
├── BadCaller           the header that names the calling chat is not a UUID (400)
├── ChatHasNoDesktop    the chat has no desktop to show (400)
├── NotShared           the share link does not cover the object (403)
├── NotVisible          the person may not see what the request names (403)
├── NoSuchVideoMoment   the run video does not contain the requested time (400)
├── NotCut              the run video cannot be cut there (409)
└── TooManyStreams      the limit of event streams is reached (429)
"""


class ControlPlaneError(Exception):
    """Base of all errors of the control plane's routes."""


class PathRefused(ControlPlaneError):
    """The path has a form that is not forwarded to a desktop service."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the path {self.reason}"


class PathNotServed(ControlPlaneError):
    """The path is valid, but not one of those that are forwarded to a desktop service."""

    def __init__(self, prefix: str, served: tuple[str, ...]) -> None:
        super().__init__(prefix, served)
        self.prefix = prefix
        self.served = served

    def __str__(self) -> str:
        return f'"{self.prefix}" does not pass to a desktop; these do: {", ".join(self.served)}'


class BadBody(ControlPlaneError):
    """A request body is not one that the route accepts."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message, detail)
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class BadCaller(ControlPlaneError):
    """A header that names the calling chat is not a UUID."""

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


class NotShared(ControlPlaneError):
    """A share link without the conversation does not cover attached files."""

    def __str__(self) -> str:
        return "This link does not cover the conversation and its files."


class NotVisible(ControlPlaneError):
    """A request names a file or a desktop that its person may not see."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"There is no {kind} {name[:80]} that you may use.")


class NoSuchVideoMoment(ControlPlaneError):
    """A time, or a span of time, that a run video does not contain."""

    def __init__(self, asked: str, seconds: float) -> None:
        super().__init__(asked, seconds)
        self.asked = asked
        self.seconds = seconds

    def __str__(self) -> str:
        return f"{self.asked}; the video is {self.seconds:.3f} s long"


class NotCut(ControlPlaneError):
    """The files of a run video cannot be joined, or cannot be read."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class TooManyStreams(ControlPlaneError):
    """The limit of event streams of this service is reached."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return f"All {self.limit} event streams are in use; close one and try again."
