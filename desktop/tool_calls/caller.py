"""Who asks, and under which tool call: what the chat headers of a request say."""

from collections.abc import Mapping
from dataclasses import dataclass

from deskhand.desktop.errors import InvalidAction

from .action_journal import JournaledCall, Json, digest

TOOL_CALL, CHAT, INSTANCE = "tool-call-id", "chat-id", "instance"
LONGEST_ID = 200
_PREFIXES = ("deskhand", "coder")


@dataclass(frozen=True)
class Caller:
    """Who asks, in the words of the chat headers; empty if not said."""

    tool_call_id: str = ""
    chat_id: str = ""


def header(headers: Mapping[str, str], name: str) -> str:
    """Return the header under our prefix, else under the reference's, else nothing."""
    return _given(headers, name) or ""


def caller_of(headers: Mapping[str, str]) -> Caller:
    """Read who asks.

    Raises:
        InvalidAction: If the tool call's id cannot be one.
    """
    call_id = _given(headers, TOOL_CALL)
    if call_id is not None and not (0 < len(call_id) <= LONGEST_ID and call_id.isprintable()):
        raise InvalidAction(f"A tool call id has 1 to {LONGEST_ID} printable characters.")
    return Caller(call_id or "", header(headers, CHAT))


def call_of(headers: Mapping[str, str], route: str, body: Json) -> JournaledCall | None:
    """Return the tool call that the request belongs to; ``None`` if it names none."""
    caller = caller_of(headers)
    if not caller.tool_call_id:
        return None
    return JournaledCall((caller.chat_id, caller.tool_call_id), digest(route, body))


def _given(headers: Mapping[str, str], name: str) -> str | None:
    found = (headers.get(f"{prefix}-{name}") for prefix in _PREFIXES)
    return next((value for value in found if value is not None), None)
