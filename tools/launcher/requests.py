"""Requests to the launcher: parsing and validation of each argument. Pure.

The sender may have been taken over. So a request names desktops, recordings and files by ids and
names that cannot form a path, and its fields are a closed list.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from deskhand.desktop.launch_port.launch_port import LaunchSpec
from deskhand.desktop.launch_port.template_options import are_of_template
from deskhand.desktop.network.egress import Egress, parse_egress
from deskhand.desktop.network.errors import InvalidEgress
from deskhand.desktop.profiles.profile_name import PROFILE_NAME

Command = Literal["prepare", "start", "stop", "list", "open", "remove", "kill", "profiles"]

LONGEST_REQUEST = 32_768
STARTED_WITH = 4
"""Descriptors that come with ``start``; other commands have none."""

RECORDING = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FILE = re.compile(r"[1-9][0-9]{0,8}\.(mp4|json|journal|jpg)")
_DIALECTS = re.compile("([a-z]{1,20}(:[a-z]{1,20})?,){0,8}")
_PATTERNS = {
    "id": re.compile("[0-9a-f]{8}"),
    "recording": RECORDING,
    "file": FILE,
    "workdir": re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,99}"),
    "profile": PROFILE_NAME,
}
_START = {"id", "egress", "display", "speak", "options"}
_FIELDS: dict[Command, tuple[set[str], ...]] = {
    "prepare": (set(),),
    "start": tuple(
        _START | more for more in (set(), {"workdir"}, {"profile"}, {"workdir", "profile"})
    ),
    "stop": ({"id"},),
    "list": (set(),),
    "open": ({"id", "recording", "file"},),
    "remove": ({"id"}, {"id", "recording"}, {"workdir"}, {"profile"}),
    "kill": ({"id"},),
    "profiles": (set(),),
}
"""The fields of each command: one of these sets."""


class RequestRefused(Exception):
    """A request that the launcher does not carry out."""


@dataclass(frozen=True)
class LauncherRequest:
    """One request; fields that it does not have are empty."""

    command: Command
    id: str = ""
    recording: str = ""
    file: str = ""
    workdir: str = ""
    profile: str = ""
    spec: LaunchSpec | None = None
    """Of ``start``."""


def parse_request(data: bytes, descriptors: int) -> LauncherRequest:
    """Return the request of a message that came with so many descriptors.

    Raises:
        RequestRefused: If anything about it is not as it must be.
    """
    if len(data) > LONGEST_REQUEST:
        raise RequestRefused("the request is too long")
    try:
        fields = json.loads(data)
    # ``ValueError`` includes bytes that are not UTF-8; deep nesting raises ``RecursionError``.
    except (ValueError, RecursionError) as error:
        raise RequestRefused("the request is no JSON") from error
    if not isinstance(fields, dict):
        raise RequestRefused("the request is no object")
    asked = fields.pop("do", None)
    command = next((one for one in get_args(Command) if one == asked), None)
    if command is None:
        raise RequestRefused("there is no such command")
    if fields.keys() not in _FIELDS[command]:
        raise RequestRefused(f"{command}: its fields are wrong")
    if descriptors != (STARTED_WITH if command == "start" else 0):
        raise RequestRefused(f"{command}: the number of its descriptors is wrong")
    texts = {name: _text(name, fields[name]) for name in fields.keys() & _PATTERNS.keys()}
    spec = _spec(texts, fields) if command == "start" else None
    return LauncherRequest(command, **texts, spec=spec)


def _text(name: str, value: object) -> str:
    if isinstance(value, str) and _PATTERNS[name].fullmatch(value):
        return value
    raise RequestRefused(f"the value of {name} is wrong")


def _spec(texts: dict[str, str], fields: dict[str, Any]) -> LaunchSpec:
    if type(fields["display"]) is not bool or not are_of_template(fields["options"]):
        raise RequestRefused("the value of display or of options is wrong")
    egress, speak = _egress(fields["egress"]), fields["speak"]
    # The desktop's command line knows the names.
    if not (isinstance(speak, list) and _DIALECTS.fullmatch("".join(f"{one}," for one in speak))):
        raise RequestRefused("the value of speak is wrong")
    named = texts["id"], egress, fields["display"], texts.get("workdir", "")
    return LaunchSpec(*named, (*speak,), (*fields["options"],), texts.get("profile", ""))


def _egress(value: Any) -> Egress:
    match value:
        case {"mode": str(mode), "allow": [*allow], "grants": [*grants], "required": bool(asked)}:
            try:
                if len(value) == 4 and all(isinstance(one, str) for one in (*allow, *grants)):
                    return parse_egress(mode, allow, grants, required=asked)
            # The port of a grant may have more digits than Python converts.
            except (InvalidEgress, ValueError) as error:
                raise RequestRefused(str(error)) from error
    raise RequestRefused("the value of egress is wrong")
