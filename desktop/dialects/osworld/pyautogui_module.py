"""The module ``pyautogui`` of commands of OSWorld's clients; copied into the desktop's directory.

It needs neither pip nor X: it asks the desktop's service for input by the socket for programs of
the agent. The service checks the same as for any other input of the caller's chat. A function that
is not served raises `PyAutoGUIException`, which names the route to use.
"""

import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from .calls import SIGNATURES, actions_of, located, needs_pointer, requests_of

SOCKET = Path(__file__).parents[4] / "run" / "agent.sock"
PAUSE = 0.1
"""Seconds after each call."""
FAILSAFE = True
"""Without effect: a person stops a program by taking control."""

_WINDOWS = "POST /setup/activate_window or /setup/close_window"
_PICTURES = ("screenshot", "locate", "pixel", "center")
_DIALOGS = ("alert", "confirm", "prompt", "password")


class PyAutoGUIException(Exception):
    """A call was refused, failed, or is not served."""


class FailSafeException(PyAutoGUIException):
    """Never raised; programs name it."""


class ImageNotFoundException(PyAutoGUIException):
    """Never raised; programs name it."""


class Position(NamedTuple):
    """A place in native pixels."""

    x: int
    y: int


class ScreenSize(NamedTuple):
    """A size in native pixels."""

    width: int
    height: int


def position(x: int | None = None, y: int | None = None) -> Position:
    """Return where the pointer is."""
    found = _asked({"do": "input", "action": "cursor_position", "coordinate_space": "native"})
    left, top = found["native_point"]
    return Position(left if x is None else x, top if y is None else y)


def size() -> ScreenSize:
    """Return the size of the screen."""
    found = _asked({"do": "status"})["size"]
    return ScreenSize(found["width"], found["height"])


def onScreen(x: Any, y: int | None = None) -> bool:  # noqa: N802 - its name in pyautogui
    """Return whether a place is on the screen."""
    left, top = x if y is None else (x, y)
    width, height = size()
    return bool(0 <= left < width and 0 <= top < height)


@contextmanager
def hold(keys: Any) -> Iterator[None]:
    """Hold keys down in the block."""
    names = [keys] if isinstance(keys, str) else list(keys)
    try:
        for name in names:
            _perform("keyDown", name)
        yield
    finally:
        for name in names:
            _perform("keyUp", name)


def linear(n: float) -> float:
    """Return the argument; the pointer moves in its own way."""
    return n


def __getattr__(name: str) -> Any:
    if name in SIGNATURES and name != "PAUSE":
        return _function(name)
    if name.startswith("ease"):
        return linear
    route = _route(name)
    if not route:
        raise AttributeError(f"module 'pyautogui' has no attribute {name!r}")

    def unserved(*_: Any, **__: Any) -> None:
        raise PyAutoGUIException(f"pyautogui.{name} is not served here: use {route}")

    return unserved


def _route(name: str) -> str:
    if name.startswith(_PICTURES):
        return "the route GET /screenshot"
    if name.startswith(_DIALOGS):
        return "the route POST /execute with a program such as zenity"
    return f"the route {_WINDOWS}" if "Window" in name else ""


def _function(name: str) -> Callable[..., None]:
    def call(*arguments: Any, **keywords: Any) -> None:
        _perform(name, *arguments, **keywords)

    call.__name__ = name
    return call


def _perform(name: str, *arguments: Any, **keywords: Any) -> None:
    given = {key: _plain(value) for key, value in keywords.items()}
    actions = actions_of([(name, [_plain(one) for one in arguments], given)])
    at = position() if needs_pointer(actions) else (0, 0)
    for body in requests_of(located(actions, at)):
        for result in _asked({"do": "input", **body})["results"]:
            if "error" in result:
                raise PyAutoGUIException(result["output"])
    if name != "sleep" and keywords.get("_pause", True) and PAUSE > 0:
        time.sleep(PAUSE)


def _plain(value: Any) -> Any:
    """Return a tween as None, and numbers of other libraries as Python's."""
    if callable(value):
        return None
    if hasattr(value, "item"):
        return value.item()
    return value


def _asked(request: Mapping[str, Any]) -> Any:
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(SOCKET))
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as lines:
                answer = json.loads(lines.readline() or b"{}")
        except OSError as error:
            raise PyAutoGUIException(f"the desktop does not answer: {error}") from error
    if not answer or "error" in answer:
        failed = answer.get("error", {"code": "closed", "message": "the desktop has ended"})
        raise PyAutoGUIException(f"{failed['code']}: {failed['message']}")
    return answer
