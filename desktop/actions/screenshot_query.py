"""Read the query of a screenshot request."""

import difflib
import re
from collections.abc import Iterable

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.fields import Json
from deskhand.desktop.geometry import Region, Size

from .requests import ActionRequest, action_request

PARAMETERS = (
    *("region", "format", "quality", "cursor", "since"),
    *("coordinate_space", "scaled_width", "scaled_height"),
)
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,15}")
_SECONDS = re.compile(r"[0-9]{1,3}([.][0-9]{1,3})?")
LONGEST_WAIT = 60.0
"""Seconds that a request may wait for a change; proxies end silent ones after about a minute."""
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def screenshot_request(query: Iterable[tuple[str, str]], native: Size) -> ActionRequest:
    """Read the query's parameters, in order, for a screen of size ``native``.

    Raises:
        InvalidAction: If anything about it is wrong.
    """
    wanted: Json = {"action": "screenshot"}
    for name, value in query:
        _check(name, wanted)
        wanted[name] = _value(name, value)
    return action_request(wanted, native)


def without_wait(query: Iterable[tuple[str, str]]) -> tuple[list[tuple[str, str]], float]:
    """Return the query without ``wait``, and how many seconds that is: 0 if it is missing.

    Raises:
        InvalidAction: If it is no number from 0 to `LONGEST_WAIT`, or named twice.
    """
    pairs = list(query)
    waits = [value for name, value in pairs if name == "wait"]
    if len(waits) > 1:
        raise InvalidAction('The parameter "wait" is there twice.')
    value = waits[0] if waits else "0"
    if not _SECONDS.fullmatch(value) or float(value) > LONGEST_WAIT:
        raise InvalidAction(f'The parameter "wait" must be 0 to {LONGEST_WAIT:g} seconds.')
    return [pair for pair in pairs if pair[0] != "wait"], float(value)


def _check(name: str, wanted: Json) -> None:
    if name not in PARAMETERS:
        close = difflib.get_close_matches(name, PARAMETERS, n=1)
        hint = f'Did you mean "{close[0]}"?' if close else ""
        raise InvalidAction(f'Unknown parameter "{name}".', hint)
    # HTTP allows repeated parameters, and frameworks disagree on which one counts.
    if name in wanted:
        raise InvalidAction(f'The parameter "{name}" is there twice.')


def _value(name: str, value: str) -> bool | int | list[int] | str:
    match name:
        case "scaled_width" | "scaled_height" | "quality":
            return _whole_number(name, value)
        case "region":
            return list(_region(value))
        case "cursor" if value not in _FLAGS:
            raise InvalidAction('The parameter "cursor" must be true or false.')
        case "cursor":
            return _FLAGS[value]
        case _:
            return value


def _whole_number(name: str, value: str) -> int:
    if not _WHOLE_NUMBER.fullmatch(value):
        raise InvalidAction(f'The parameter "{name}" must be a whole number.')
    return int(value)


def _region(value: str) -> Region:
    parts = [part.strip() for part in value.split(",")]
    if len(parts) != 4 or not all(map(_WHOLE_NUMBER.fullmatch, parts)):
        raise InvalidAction('The parameter "region" must be four whole numbers: x1,y1,x2,y2.')
    return Region(*map(int, parts))
