"""Everything this package raises on purpose; one class for each decision of the catcher.

DesktopError
├── InvalidAction       the caller's fault, nothing was done; the service answers 400
├── QueueFull           too many actions wait; ask again later (429)
├── Occupied            somebody else acts just now (409)
│   ├── HumanInControl  a person; wait until control is given back
│   └── HeldByChat      another chat
├── NotInControl        only the one in control may do this (409)
├── ActionFailed        the action was begun and went wrong (500)
│   └── ForeignHost     a text is kept from the page that has the keyboard (409)
├── UnknownWindow       there is no such window (404)
├── NothingSuch         no such application or file (404)
├── ClipboardFailed     its owner does not hand it over, or took it (504)
├── UntypableText       the keyboard has no room for these characters
├── DisplayNotReady     the X server did not come up
├── DisplayGone         the X server, or the connection to it, is lost (503)
├── MissingProgram      install a package first
├── InvalidSecret       a value cannot be hidden in what is told (400)
├── NoAccessibility     applications cannot be asked for their widgets (501)
├── AccountUnavailable  no user to work as
├── DesktopRefused      the client's side: the service answered no
│   ├── DesktopOccupied  a person or another chat acts; wait for it (409)
│   ├── DesktopBusy      no display or no room just now; ask again (429, 503)
│   └── NotOnDesktop     no such file, window, application, recording (404)
└── DesktopUnavailable  the client's side: the service cannot be reached

``CallRefused`` (409) is an error of tool calls: `desktop.tool_calls.errors`.
"""

from collections.abc import Sequence

from deskhand.desktop.tool_calls.errors import CallRefused as CallRefused


class DesktopError(Exception):
    """Base class of this package's exceptions."""


class InvalidAction(DesktopError):
    """The request is wrong; the text says how."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message, detail)
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class QueueFull(DesktopError):
    """As many actions wait for this desktop as may."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return f"{self.limit} actions wait for this desktop already"


class Occupied(DesktopError):
    """Somebody else acts just now."""

    code = ""
    """The word for it in answers, for programs."""


class HumanInControl(Occupied):
    """A person is in control: no agent acts or, where it is private, looks."""

    code = "human_in_control"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"{self.name} is in control of this desktop; wait until control is given back"


class HeldByChat(Occupied):
    """Another chat acts on this desktop."""

    code = "held_by_chat"

    def __init__(self, chat_id: str, seconds: float) -> None:
        super().__init__(chat_id, seconds)
        self.chat_id = chat_id
        self.seconds = seconds
        """After so long at the earliest it counts as idle."""

    def __str__(self) -> str:
        return f"chat {self.chat_id} works on this desktop, until it is idle for 30 s"


class NotInControl(DesktopError):
    """Only the one in control may do this."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        """Who is; empty if nobody is."""

    def __str__(self) -> str:
        return f"{self.name} is in control" if self.name else "nobody is in control"


class ActionFailed(DesktopError):
    """The action was begun, and the display or its driver did not go along."""

    status, code = 500, ""
    """How it is answered, and the word for it for programs."""

    def __init__(self, message: str, detail: str) -> None:
        super().__init__(message, detail)
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class ForeignHost(ActionFailed):
    """A text may be typed into pages of some hosts only; nothing was typed."""

    status, code = 409, "foreign_host"

    def __init__(self, hosts: Sequence[str], host: str) -> None:
        found = f"{host} has the keyboard" if host else "no page is known to have the keyboard"
        only = ", ".join(hosts)
        super().__init__(
            "The text was not typed.",
            f"It is for pages of {only} only, and {found}: click the field there first.",
        )


class UntypableText(DesktopError):
    """There is no way to type these characters on this display's keyboard."""

    def __init__(self, characters: str) -> None:
        super().__init__(characters)
        self.characters = characters

    def __str__(self) -> str:
        return f"the keyboard cannot type {self.characters!r}"


class UnknownWindow(DesktopError):
    """There is no window of that number on this display."""

    def __init__(self, window: int) -> None:
        super().__init__(window)
        self.window = window

    def __str__(self) -> str:
        return f"there is no window {self.window}; GET /api/v0/desktop/windows lists them"


class NothingSuch(DesktopError):
    """What is to be launched or opened is not there; the detail says what is."""

    def __init__(self, message: str, detail: str) -> None:
        super().__init__(message, detail)
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class ClipboardFailed(DesktopError):
    """What was copied cannot be had, or cannot be replaced."""


class DisplayNotReady(DesktopError):
    """The X server did not answer in time, or ended while starting."""

    def __init__(self, display: str, waited: float, log_tail: str = "") -> None:
        super().__init__(display, waited, log_tail)
        self.display = display
        self.waited = waited
        self.log_tail = log_tail

    def __str__(self) -> str:
        tail = f"; its log ends: {self.log_tail}" if self.log_tail else ""
        return f"display {self.display} not ready after {self.waited:.1f} s{tail}"


class DisplayGone(DesktopError):
    """The X server died, or its connection broke."""

    def __init__(self, display: str, reason: str = "") -> None:
        super().__init__(display, reason)
        self.display = display
        self.reason = reason

    def __str__(self) -> str:
        return f"display {self.display} is gone" + (f": {self.reason}" if self.reason else "")


class MissingProgram(DesktopError):
    """A program of the operating system is not installed."""

    def __init__(self, name: str, package: str) -> None:
        super().__init__(name, package)
        self.name = name
        self.package = package

    def __str__(self) -> str:
        return f"{self.name} is not installed; install the package {self.package}"


class InvalidSecret(DesktopError):
    """A value cannot be hidden in what is told; the text says why, without the value."""


class NoAccessibility(DesktopError):
    """Applications cannot be asked for their widgets; the text says why."""


class AccountUnavailable(DesktopError):
    """The user to work as does not exist, or cannot be made or become."""


class DesktopRefused(DesktopError):
    """The desktop service answered with an error status."""

    def __init__(self, status: int, message: str, detail: str = "", code: str = "") -> None:
        super().__init__(status, message, detail, code)
        self.status = status
        self.message = message
        self.detail = detail
        self.code = code
        """For programs, as ``human_in_control``; empty where the status says enough."""

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class DesktopOccupied(DesktopRefused):
    """A person or another chat acts on the desktop; ``code`` tells which."""


class DesktopBusy(DesktopRefused):
    """The desktop has no display or no room just now; the same may work a moment later."""


class NotOnDesktop(DesktopRefused):
    """The desktop has no such file, window, application, process or recording."""


class DesktopUnavailable(DesktopError):
    """The desktop service cannot be reached, or broke off its answer."""
