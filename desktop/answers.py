"""How the errors of routes about clipboard, windows and applications are answered."""

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import HTTPException

from .errors import (
    ActionFailed,
    ClipboardFailed,
    DisplayGone,
    DisplayNotReady,
    InvalidAction,
    NothingSuch,
    Occupied,
    UnknownWindow,
)


@contextmanager
def answered() -> Iterator[None]:
    """Turn what the body raises into an HTTP answer."""
    try:
        yield
    except InvalidAction as error:
        raise refusal(400, error.message, error.detail) from error
    except NothingSuch as error:
        raise refusal(404, error.message, error.detail) from error
    except ActionFailed as error:
        raise refusal(500, error.message, error.detail) from error
    except UnknownWindow as error:
        raise refusal(404, "Unknown window.", str(error)) from error
    except Occupied as error:
        taken = "Somebody else acts on this desktop."
        raise refusal(409, taken, str(error), error.code) from error
    except ClipboardFailed as error:
        raise refusal(504, "The clipboard does not answer.", str(error)) from error
    except (DisplayGone, DisplayNotReady) as error:
        raise refusal(503, "The display is not available.", str(error)) from error


def refusal(status: int, message: str, detail: str = "", code: str = "") -> HTTPException:
    """Return the answer that says no."""
    told = {"message": message, "detail": detail, "code": code}
    headers = {"Retry-After": "1"} if status == 503 else None
    return HTTPException(status, {name: text for name, text in told.items() if text}, headers)
