"""HTTP answers for the errors that a desktop's routes raise."""

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import HTTPException

from deskhand.desktop.tool_calls.errors import CallRefused

from .errors import (
    ActionFailed,
    ClipboardFailed,
    DesktopError,
    DisplayGone,
    DisplayNotReady,
    InvalidAction,
    NoAccessibility,
    NothingSuch,
    Occupied,
    QueueFull,
    UnknownWindow,
)

_AGAIN = (429, 503)
"""Statuses of requests that may succeed a second later; they get a Retry-After header."""
_NO_DISPLAY = (503, "The display is not available.")
_SAID: dict[type[DesktopError], tuple[int, str]] = {
    UnknownWindow: (404, "Unknown window."),
    QueueFull: (429, "Too many actions are waiting."),
    NoAccessibility: (501, "There is no accessibility tree here."),
    DisplayGone: _NO_DISPLAY,
    DisplayNotReady: _NO_DISPLAY,
    ClipboardFailed: (504, "The clipboard does not answer."),
}
"""Status and message; the text of the error is the detail."""


@contextmanager
def answered() -> Iterator[None]:
    """Translate the errors of this package that the body raises into ``HTTPException``."""
    try:
        yield
    except InvalidAction as error:
        raise refusal(400, error.message, error.detail) from error
    except NothingSuch as error:
        raise refusal(404, error.message, error.detail) from error
    except CallRefused as error:
        raise refusal(409, error.message, error.detail, error.code) from error
    except ActionFailed as error:
        raise refusal(error.status, error.message, error.detail, error.code) from error
    except Occupied as error:
        message = "Another client controls this desktop."
        raise refusal(409, message, str(error), error.code) from error
    # The lookup by exact type holds as long as none of these classes has subclasses.
    except tuple(_SAID) as error:
        raise refusal(*_SAID[type(error)], str(error)) from error


def refusal(status: int, message: str, detail: str = "", code: str = "") -> HTTPException:
    """Return the error answer; empty fields are left out of its body."""
    body = {"message": message, "detail": detail, "code": code}
    headers = {"Retry-After": "1"} if status in _AGAIN else None
    return HTTPException(status, {name: text for name, text in body.items() if text}, headers)
