"""Bodies of OSWorld's requests. Pure."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import known

from .errors import BadOsworldRequest

Json = dict[str, Any]
LONGEST_SCRIPT_SECONDS = 3600.0


@dataclass(frozen=True)
class CommandBody:
    """A command, as a text or as words."""

    command: str | tuple[str, ...]
    shell: bool


@dataclass(frozen=True)
class ScriptBody:
    """A script of bash, with its limit in seconds."""

    script: str
    timeout: float
    folder: str


@dataclass(frozen=True)
class Verification:
    """What must be true after a command, and how long to wait for it, in seconds."""

    window: str
    command: str | tuple[str, ...]
    longest: float
    interval: float


@dataclass(frozen=True)
class WindowBody:
    """The window that a request names."""

    name: str
    strict: bool
    by_class: bool


def object_of(body: bytes) -> Json:
    """Return the JSON object of a body; raises ``BadOsworldRequest``."""
    try:
        found = json.loads(body or b"{}")
        # JSON permits escaped lone surrogates, which cannot be encoded in UTF-8 later.
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadOsworldRequest("The body must be a JSON object.")
    return found


def check_names(body: Mapping[str, Any], names: Collection[str]) -> None:
    """Check that a route has every field that a body has; raises ``BadOsworldRequest``."""
    try:
        known(body, names)
    except BadField as error:
        raise BadOsworldRequest(str(error)) from error


def command_of(body: Mapping[str, Any]) -> CommandBody:
    """Return the command of a body; raises ``BadOsworldRequest``."""
    return CommandBody(_command(body.get("command")), _flag(body, "shell"))


def script_of(body: Mapping[str, Any]) -> ScriptBody:
    """Return the script of a body; raises ``BadOsworldRequest``."""
    seconds = _seconds(body, "timeout", 100.0)
    folder = body.get("working_dir") or ""
    if not isinstance(folder, str):
        raise BadOsworldRequest('"working_dir" must be a text.')
    return ScriptBody(text_of(body, "script"), seconds, folder)


def verification_of(body: Mapping[str, Any]) -> Verification:
    """Return what a body wants to be verified; raises ``BadOsworldRequest``."""
    wanted = body.get("verification") or {}
    if not isinstance(wanted, dict):
        raise BadOsworldRequest('"verification" must be an object.')
    check_names(wanted, ("window_exists", "command_success"))
    window, command = wanted.get("window_exists") or "", wanted.get("command_success") or ""
    if not isinstance(window, str):
        raise BadOsworldRequest('"window_exists" must be a text.')
    return Verification(
        window,
        _command(command) if command else "",
        _seconds(body, "max_wait_time", 10.0),
        max(_seconds(body, "check_interval", 1.0), 0.05),
    )


def window_of(body: Mapping[str, Any]) -> WindowBody:
    """Return the window that a body names; raises ``BadOsworldRequest``."""
    return WindowBody(text_of(body, "window_name"), _flag(body, "strict"), _flag(body, "by_class"))


def text_of(body: Mapping[str, Any], name: str) -> str:
    """Return a text of a body or a form; raises ``BadOsworldRequest``."""
    value = body.get(name)
    if not isinstance(value, str) or not value or "\0" in value:
        raise BadOsworldRequest(f'"{name}" must be a text.')
    return value


def _flag(body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name)
    if not isinstance(value, bool | None):
        raise BadOsworldRequest(f'"{name}" must be true or false.')
    return bool(value)


def _command(value: object) -> str | tuple[str, ...]:
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, Sequence) or not words or value == "":
        raise BadOsworldRequest('"command" must be a text or a list of texts.')
    if not all(isinstance(one, str) and "\0" not in one for one in words):
        raise BadOsworldRequest('"command" must hold texts without NUL.')
    return value if isinstance(value, str) else tuple(words)


def _seconds(body: Mapping[str, Any], name: str, default: float) -> float:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise BadOsworldRequest(f'"{name}" must be a number of seconds.')
    return min(value, LONGEST_SCRIPT_SECONDS)
