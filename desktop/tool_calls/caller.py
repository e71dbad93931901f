"""Caller and chat of a request, read from its headers.

Two readers, because two contracts differ. An action accepts any text as the id of a chat: it only
labels steps and control. Processes, files and git show a chat what belongs to it, so they require
UUIDs and refuse everything else.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from deskhand.desktop.errors import InvalidAction
from deskhand.vncbridge.http import caller_headers

from .errors import MalformedChat
from .generations import generation_of

LONGEST_ID = 200
"""Characters of a tool call's id."""

COMPUTER = "computer"
"""Tool of an action that a client sends to the route of actions."""

TOOL = "deskhand.tool"
"""Key of an ASGI scope with the tool whose call it is; no client can set it."""


@dataclass(frozen=True)
class Caller:
    """Chat and tool call as the headers have them; empty where a header is missing."""

    tool_call_id: str = ""
    chat_id: str = ""
    tool: str = COMPUTER
    """Name of the tool in steps."""
    generation: int = 0
    """Generation under which the caller's control plane drives the chat."""


@dataclass(frozen=True)
class CallingChat:
    """A chat and the chats above it, as canonical UUID texts."""

    id: str
    ancestors: tuple[str, ...] = ()


Touched = Callable[[CallingChat, Sequence[str]], None]
"""Receives the paths that a chat has worked on; none: anything may have changed."""


def caller_of(headers: Mapping[str, str], tool: str = COMPUTER) -> Caller:
    """Return the caller of an action that is a call of ``tool``.

    Raises:
        InvalidAction: If the tool call's id is empty, too long or not printable.
    """
    call = caller_headers.find(headers, caller_headers.TOOL_CALL)
    if call and not (0 < len(call.value) <= LONGEST_ID and call.value.isprintable()):
        raise InvalidAction(f"A tool call id has 1 to {LONGEST_ID} printable characters.")
    chat = caller_headers.value(headers, caller_headers.CHAT)
    return Caller(call.value if call else "", chat, tool, generation_of(headers))


def instance_of(headers: Mapping[str, str]) -> str:
    """Return the desktop instance that the call was first sent to; empty if not named."""
    return caller_headers.value(headers, caller_headers.INSTANCE)


def chat_of(headers: Mapping[str, str]) -> CallingChat | None:
    """Return the chat that the headers name, None if they name none.

    Raises:
        MalformedChat: If a named chat or ancestor is no UUID.
    """
    chat = caller_headers.text(headers, caller_headers.CHAT).strip()
    if not chat:
        return None
    ancestors = caller_headers.text(headers, caller_headers.ANCESTORS).strip()
    return CallingChat(_uuid(chat, "chat id"), _ancestors(ancestors))


def _ancestors(text: str) -> tuple[str, ...]:
    if not text:
        return ()
    try:
        listed = json.loads(text)
    # `json.loads` raises RecursionError for deeply nested arrays.
    except (ValueError, RecursionError) as error:
        raise MalformedChat("The ancestor chat ids are not valid JSON.", str(error)) from error
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise MalformedChat("The ancestor chat ids must be a JSON array of UUID texts.")
    return tuple(_uuid(item, "ancestor chat id") for item in listed)


def _uuid(text: str, what: str) -> str:
    try:
        # UUID also accepts upper case, braces and no hyphens; equal ids must become equal keys.
        return str(UUID(text))
    except ValueError as error:
        raise MalformedChat(f"The {what} must be a UUID.", repr(text)) from error
