"""Which chat a request is made for, read from its headers. Nothing is guessed: a bad one is 400."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from .errors import MalformedChat

PREFIXES = ("deskhand-", "coder-")


@dataclass(frozen=True)
class CallingChat:
    """A chat and the chats above it, as canonical UUID texts."""

    id: str
    ancestors: tuple[str, ...] = ()


Touched = Callable[[CallingChat, Sequence[str]], None]
"""Is told which paths a chat has worked on; none: something may have changed anywhere."""


def chat_of(headers: Mapping[str, str]) -> CallingChat | None:
    """Return the chat that the headers name, None if they name none.

    Raises:
        MalformedChat: If one is named that cannot be one.
    """
    chat = header(headers, "chat-id")
    if not chat:
        return None
    return CallingChat(_uuid(chat, "chat id"), _ancestors(header(headers, "ancestor-chat-ids")))


def header(headers: Mapping[str, str], name: str) -> str:
    """Return the header under our prefix, else under the reference's, else nothing."""
    for prefix in PREFIXES:
        if value := headers.get(prefix + name, "").strip():
            return value
    return ""


def _ancestors(text: str) -> tuple[str, ...]:
    if not text:
        return ()
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedChat("The ancestor chat ids are not valid JSON.", str(error)) from error
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise MalformedChat("The ancestor chat ids must be a JSON array of UUID texts.")
    return tuple(_uuid(item, "ancestor chat id") for item in listed)


def _uuid(text: str, what: str) -> str:
    try:
        return str(UUID(text))
    except ValueError as error:
        raise MalformedChat(f"The {what} must be a UUID.", repr(text)) from error
