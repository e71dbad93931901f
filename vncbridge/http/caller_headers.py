"""Request headers that name the chat, the tool call and the role of the caller.

All services read these headers here. Each is ``Deskhand-<name>``, or ``Coder-<name>`` as clients
of the reference send it. Where a request has both, the first one counts.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote

PREFIXES = ("deskhand-", "coder-")

CHAT = "chat-id"
ANCESTORS = "ancestor-chat-ids"
TOOL_CALL = "tool-call-id"
MESSAGE = "tool-call-message-id"
AGE = "tool-call-age-ms"
INSTANCE = "instance"
GENERATION = "generation"

OWN_CHAT = PREFIXES[0] + CHAT
ROLE = "deskhand-role"
"""The proxy of the control plane sends the caller's role, always under this name."""
CALLER = "deskhand-caller"
"""The proxy sends the name of the caller's credential."""
PERSON = "deskhand-person"
"""The proxy sends the name of the person who has signed in, percent-encoded."""
BASE = "deskhand-base"
"""The proxy sends the address of the desktop's routes as the caller knows it, with ``ws``."""


class CallerHeader(NamedTuple):
    """A header as the request has it; the name is in lower case."""

    name: str
    value: str


def find(headers: Mapping[str, str], name: str) -> CallerHeader | None:
    """Return the first header of this name that is present, even if it is empty.

    The mapping must ignore case, or have its keys in lower case.
    """
    return next(_present(headers, name), None)


def value(headers: Mapping[str, str], name: str) -> str:
    """Return the value that :func:`find` finds, else an empty string."""
    found = find(headers, name)
    return found.value if found else ""


def text(headers: Mapping[str, str], name: str) -> str:
    """Return the first value of this name that is not blank, else an empty string."""
    return next((found.value for found in _present(headers, name) if found.value.strip()), "")


def role(headers: Mapping[str, str], default: str) -> str:
    """Return the role of the caller for whom the proxy passes the request on."""
    return headers.get(ROLE, default)


def person(headers: Mapping[str, str]) -> str:
    """Return the name of the person for whom the proxy passes the request on, else empty."""
    return unquote(headers.get(PERSON, ""))


def _present(headers: Mapping[str, str], name: str) -> Iterator[CallerHeader]:
    for prefix in PREFIXES:
        found = headers.get(prefix + name)
        if found is not None:
            yield CallerHeader(prefix + name, found)
