"""Errors that this package raises on purpose; one class for each decision of the catcher.

`DeskhandError` is the base of all of Deskhand's; those of a control plane's client are in
``tools.client.errors``, which lists every error of the Python client.

DesktopError
├── InvalidAction       wrong request, nothing was done; the service answers 400
│   └── BadField        one field of it is unknown, missing or wrong
├── QueueFull           too many actions wait; repeat later (429)
├── Occupied            another actor has control (409)
│   ├── HumanInControl  a person; wait until control is released
│   └── HeldByChat      another chat
├── NotInControl        only the lease holder may do this (409)
├── ActionFailed        the action was begun and failed (500)
│   └── Withheld        a text for some fields only was not typed, or not all of it (409)
│       ├── ForeignHost the page with the keyboard focus may not get it
│       ├── UnfitField  the field with it is none of a sign-in
│       ├── FieldTooShort  the field does not take the whole text
│       ├── FocusMoved  the focus moved while it was typed
│       └── KeyboardGrabbed  another program gets the keys
├── UnknownWindow       no such window (404)
├── NothingSuch         no such application or file (404)
├── ClipboardFailed     the selection owner does not answer, or changed (504)
├── UntypableText       no keycode is free for these characters
├── DisplayNotReady     the X server did not start
├── DisplayGone         the X server, or the connection to it, is lost (503)
├── MissingProgram      a package must be installed first
├── NoBrowser           no browser that can run here is installed
├── InvalidSecret       a value cannot be redacted (400)
├── NoAccessibility     AT-SPI is not available (501)
├── AccountUnavailable  no user to work as
├── EmptyPicture        client: the picture has no bytes, as nothing has changed
├── ConditionNotMet     client: what was awaited did not appear in time
├── ExpectationFailed   client: a test expected something else on the screen
├── DesktopRefused      client: the service answered with an error status
│   ├── DesktopOccupied  a person or another chat has control; wait (409)
│   ├── DesktopBusy      no display or no capacity now; repeat (429, 503)
│   └── NotOnDesktop     no such file, window, application, recording (404)
└── DesktopUnavailable  client: the service cannot be reached

``CallRefused`` (409) is an error of tool calls: `desktop.tool_calls.errors`.
"""

from collections.abc import Sequence

from deskhand.desktop.tool_calls.errors import CallRefused as CallRefused


class DeskhandError(Exception):
    """Base class of all errors that Deskhand raises on purpose."""

    advice = ""
    """What to do about it; a traceback shows it below the error."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        if self.advice:
            self.add_note(self.advice)


class DesktopError(DeskhandError):
    """Base class of this package's exceptions."""


class InvalidAction(DesktopError):
    """The request is wrong; the text states the reason."""

    advice = "Correct the call; nothing was done."

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message, detail)
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class BadField(InvalidAction):
    """A field of a request, or an argument of a tool, is unknown, missing or wrong."""

    def __init__(self, field: str, sentence: str, message: str, detail: str = "") -> None:
        super().__init__(message, detail)
        self.args = (field, sentence, message, detail)
        self.field = field
        """Its name, after those of the objects that it is in, as ``edits[0].path``."""
        self.sentence = sentence
        """The reason for a model, in the words of tools."""


class QueueFull(DesktopError):
    """The queue of actions of this desktop is at its limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return f"{self.limit} actions wait for this desktop already"


class Occupied(DesktopError):
    """Another actor has control of the desktop."""

    code = ""
    """Machine-readable reason in answers."""


class HumanInControl(Occupied):
    """A person is in control: agents may not act nor, in privacy mode, take screenshots."""

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
        """Seconds after which the chat counts as idle at the earliest."""

    def __str__(self) -> str:
        return f"chat {self.chat_id} works on this desktop, until it is idle for 30 s"


class NotInControl(DesktopError):
    """The operation is reserved for the holder of the lease."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        """The holder; empty if there is none."""

    def __str__(self) -> str:
        return f"{self.name} is in control" if self.name else "nobody is in control"


class ActionFailed(DesktopError):
    """The action was begun, and the display or its driver refused it."""

    status, code = 500, ""
    """HTTP status and machine-readable reason of the answer."""

    def __init__(self, message: str, detail: str) -> None:
        super().__init__(message, detail)
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class Withheld(ActionFailed):
    """A text is for some fields only, and was not typed, or not all of it."""


class ForeignHost(Withheld):
    """A text may be typed into pages of some hosts only; nothing was typed."""

    status, code = 409, "foreign_host"

    def __init__(self, hosts: Sequence[str], host: str) -> None:
        found = f"{host} has the keyboard" if host else "no page is known to have the keyboard"
        only = ", ".join(hosts)
        super().__init__(
            "The text was not typed.",
            f"It is for pages of {only} only, and {found}: click the field there first.",
        )
        # An exception is unpickled from its arguments.
        self.args = (hosts, host)


class UnfitField(Withheld):
    """A text is for fields of a sign-in, and another field has the keyboard; nothing was typed."""

    status, code = 409, "unfit_field"

    def __init__(self, field: str, hosts: Sequence[str]) -> None:
        named = f"the field “{field}”" if field else "the field with the keyboard"
        super().__init__(
            "The text was not typed.",
            f"It is for fields of a sign-in only, and {named} is none of these: a password field, "
            "one with autocomplete for a user name, email, telephone, password or one-time code, "
            "or a line of a form with a password field. The owner of the text can permit any "
            f"field of {', '.join(hosts) or 'a page'} with any_field.",
        )
        self.args = (field, hosts)


class FieldTooShort(Withheld):
    """The field with the keyboard does not take the whole text; nothing was typed."""

    status, code = 409, "field_too_short"

    def __init__(self) -> None:
        # Without numbers: an agent must not learn the length of a secret.
        super().__init__("The text was not typed.", "The field is too short for it.")
        self.args = ()


class FocusMoved(Withheld):
    """The focus moved while a text was typed that only one field may receive."""

    status, code = 409, "focus_moved"

    def __init__(self) -> None:
        # Without numbers: an agent must not learn the length of a secret.
        super().__init__(
            "focus moved", "(the rest of the text was withheld: clear the field, click it again)"
        )
        self.args = ()


class KeyboardGrabbed(Withheld):
    """A program has grabbed the keyboard, and would get keys that are for another one."""

    status, code = 409, "keyboard_grabbed"

    def __init__(self) -> None:
        super().__init__(
            "a program has grabbed the keyboard",
            "(nothing more was typed: close its menu or dialog, or end the program)",
        )
        self.args = ()


class UntypableText(DesktopError):
    """These characters have no keycode on this display's keyboard, and none is free for them."""

    def __init__(self, characters: str) -> None:
        super().__init__(characters)
        self.characters = characters

    def __str__(self) -> str:
        return f"the keyboard cannot type {self.characters!r}"


class UnknownWindow(DesktopError):
    """No window of this display has that id."""

    def __init__(self, window: int) -> None:
        super().__init__(window)
        self.window = window

    def __str__(self) -> str:
        return f"there is no window {self.window}; GET /api/v0/desktop/windows lists them"


class NothingSuch(DesktopError):
    """The application or file does not exist; the detail lists what does."""

    def __init__(self, message: str, detail: str) -> None:
        super().__init__(message, detail)
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class ClipboardFailed(DesktopError):
    """The clipboard can be neither read nor replaced."""


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


class NoBrowser(DesktopError):
    """No browser that can run on a desktop is installed; the text names what to install."""


class InvalidSecret(DesktopError):
    """A value cannot be redacted; the text states the reason without the value."""


class NoAccessibility(DesktopError):
    """AT-SPI is not available; the text states the reason."""


class AccountUnavailable(DesktopError):
    """The user to work as does not exist, or the service can neither create it nor switch to it."""


class EmptyPicture(DesktopError):
    """A picture has no bytes, because nothing has changed since the frame named by ``since``."""

    advice = "Use the earlier picture, or take a screenshot without `since`."


class ConditionNotMet(DesktopError, TimeoutError):
    """What was awaited did not appear in time; the text states what was there instead."""

    advice = "Compare with what was there, or wait longer: wait_until(..., timeout=SECONDS)."


class ExpectationFailed(DesktopError, AssertionError):
    """The desktop does not show what a test expects; the text states what it shows."""

    advice = "Correct the test, or the application; a longer wait is expect(desktop, timeout=...)."


class DesktopRefused(DesktopError):
    """The desktop service answered with an error status."""

    advice = "Correct the request as the message says; the same one would be refused again."

    def __init__(self, status: int, message: str, detail: str = "", code: str = "") -> None:
        super().__init__(status, message, detail, code)
        self.status = status
        self.message = message
        self.detail = detail
        self.code = code
        """Machine-readable, such as ``human_in_control``; empty where the status is enough."""

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class DesktopOccupied(DesktopRefused):
    """A person or another chat has control of the desktop; ``code`` distinguishes them."""

    advice = "Wait until control is released: desktop.lease.changed(revision) returns then."


class DesktopBusy(DesktopRefused):
    """The desktop has no display or no capacity now; the same request may succeed later."""

    advice = "Repeat the request after a pause."


class NotOnDesktop(DesktopRefused):
    """The desktop has no such file, window, application, process or recording."""

    advice = "List what exists and use one of those; it may have ended or been removed."


class DesktopUnavailable(DesktopError):
    """The desktop service cannot be reached, or broke off its answer."""

    advice = (
        "Check that it runs and that its address is right; `deskhand up` starts a control plane."
    )
