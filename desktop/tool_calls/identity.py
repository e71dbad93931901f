"""Identity of a tool call. Two requests with the same identity are one call."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha1
from urllib.parse import unquote
from uuid import UUID, uuid5

from deskhand.vncbridge.http import caller_headers

from .caller import Caller, CallingChat
from .errors import CallRefused, MalformedCall
from .generations import LONGEST_NUMBER, MOST_CHATS, generation_of
from .table import Key

PROCESS_IDS = UUID("5e0f3a52-0c1b-5f0e-9a34-0d8a4b9f6c11")
"""Namespace of the ids of processes, for calls that are named by a text."""
MESSAGE_IDS = UUID("c5773f4c-0b3f-57bc-9147-36daf7921a1b")
"""The same for calls that are numbered by their message, as the reference has it."""


@dataclass(frozen=True)
class Identity:
    """One call of one chat."""

    chat: str
    call: str
    message: int | None = None
    """Number of the chat's message that contains the call; None: the id alone names the call."""
    age_ms: int = 0
    """Time since the call was first sent, 0 if that is now."""
    generation: int = 0
    """Generation under which its control plane drives the chat; 0 if that is alone."""

    @property
    def key(self) -> Key:
        """Key of the call in tables and journals."""
        return self.chat, self.call if self.message is None else f"{self.message}/{self.call}"

    @property
    def process_id(self) -> str:
        """Id of the process that the call starts: the call's own id where that is a UUID."""
        if self.message is not None:
            # ``uuid5`` takes texts only, and the reference hashes a chat's id as its 16 bytes.
            name = UUID(self.chat).bytes + self.message.to_bytes(8, "big") + self.call.encode()
            digest = sha1(MESSAGE_IDS.bytes + name, usedforsecurity=False).digest()
            return str(UUID(bytes=digest[:16], version=5))
        try:
            return str(UUID(self.call))
        except ValueError:
            return str(uuid5(PROCESS_IDS, "/".join(self.key)))


def action_identity(caller: Caller) -> Identity | None:
    """Return the call that an action belongs to; None if the caller names none."""
    if not caller.tool_call_id:
        return None
    return Identity(caller.chat_id, caller.tool_call_id, generation=caller.generation)


def identity_of(
    headers: Mapping[str, str],
    chat: CallingChat | None,
    *,
    path: str = "",
    body: str = "",
    age_ms: int = 0,
) -> Identity | None:
    """Return the call that the path names, else the headers, else the body; None if none does.

    Raises:
        MalformedCall: If it is named in part, or for no chat.
    """
    call = path or unquote(_text(headers, caller_headers.TOOL_CALL)) or body
    message = _text(headers, caller_headers.MESSAGE)
    age = _text(headers, caller_headers.AGE)
    if not call:
        if message or age:
            raise MalformedCall("The headers name no tool call: its id is missing.")
        return None
    if chat is None:
        raise MalformedCall("A tool call is a chat's: the chat's header is missing.")
    return Identity(
        chat.id,
        call,
        _number(message, "message id") if message else None,
        _number(age, "age") if age else age_ms,
        generation_of(headers),
    )


class Newest:
    """The newest message of each chat: calls of older messages are refused."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def admit(self, identity: Identity) -> None:
        """Record the message of a call.

        Raises:
            CallRefused: If the chat has gone on to a newer message.
        """
        if identity.message is None:
            return
        # Popped and added again, a chat moves to the end: the first one is the least recently used.
        newest = self._numbers.pop(identity.chat, 0)
        self._numbers[identity.chat] = max(newest, identity.message)
        if len(self._numbers) > MOST_CHATS:
            del self._numbers[next(iter(self._numbers))]
        if identity.message < newest:
            raise CallRefused(
                "stale_tool_call", "stale_tool_call: the chat has gone on to a newer message."
            )


def _text(headers: Mapping[str, str], name: str) -> str:
    return caller_headers.text(headers, name).strip()


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > LONGEST_NUMBER:
        raise MalformedCall(f"The tool call's {what} must be a whole number, not negative.")
    return int(text)
