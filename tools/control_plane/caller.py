"""Chat, tool call and credential of a request to the control plane."""

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from deskhand.vncbridge.auth.people import person_of
from deskhand.vncbridge.auth.scopes import ADMIN, chats_of
from deskhand.vncbridge.http import caller_headers

from .errors import BadCaller

OWNER = "owner"
"""Id of the service's own credential: its token file, and browsers signed in with a code."""

LONGEST_TOOL_CALL = 200
"""Characters of a tool call's id; providers' ids have fewer than 64."""


def chat_id(headers: Mapping[str, str]) -> str | None:
    """Return the id of the calling chat in its canonical form, ``None`` if no header names one.

    Raises:
        BadCaller: If a header is present but not a UUID.
    """
    # ``find`` returns an empty header too, unlike ``text``: falling back to the default chat would
    # run the call for a chat that the caller did not mean.
    named = caller_headers.find(headers, caller_headers.CHAT)
    if named is None:
        return None
    try:
        # ``UUID`` accepts upper case and a value without hyphens; ``str`` makes one id of all these
        # forms.
        return str(UUID(named.value.strip()))
    except ValueError:
        raise BadCaller(named.name.title(), named.value) from None


def tool_call_id(headers: Mapping[str, str]) -> str | None:
    """Return the id that the caller gave to this call, ``None`` without a usable one."""
    value = caller_headers.text(headers, caller_headers.TOOL_CALL).strip()
    usable = value.isascii() and value.isprintable() and len(value) <= LONGEST_TOOL_CALL
    return value if value and usable else None


def principal_name(scope: Mapping[str, Any]) -> str:
    """Return the name of the credential with which the middleware accepted an ASGI request."""
    name: str = scope["state"]["principal"].name
    return name


def credential_id(scope: Mapping[str, Any]) -> str:
    """Return the id of that credential: of its token, or ``owner`` for the owner of the service."""
    token_id: str = scope["state"]["principal"].token_id
    return token_id or OWNER


def reads_conversation(scope: Mapping[str, Any]) -> bool:
    """Return whether that credential covers the conversation of the chat that is requested."""
    found: bool = scope["state"]["reads_conversation"]
    return found


def is_administrator(scope: Mapping[str, Any]) -> bool:
    """Return whether that credential permits everything."""
    return ADMIN in scope["state"]["principal"].scopes


def rights_to(scope: Mapping[str, Any], chat_id: str) -> Literal["write", "stop", "read"]:
    """Return what that credential may do with the run that is requested."""
    scopes = principal_scopes(scope)
    # The token of a chat covers those below it, too.
    if is_administrator(scope) or chats_of(scopes):
        return "write"
    return "stop" if f"run:{chat_id}:stop" in scopes else "read"


def signed_in_name(scope: Mapping[str, Any]) -> str:
    """Return the name of the person who has signed in, also for a ticket; else empty."""
    principal = scope["state"]["principal"]
    name: str = principal.name if person_of(principal.token_id) else ""
    return name


def limited_person(scope: Mapping[str, Any]) -> str:
    """Return the id of the person who calls and is no owner; empty for all other callers."""
    person: str = scope["state"]["principal"].person
    return "" if is_administrator(scope) else person


def principal_scopes(scope: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the scopes of that credential."""
    scopes: tuple[str, ...] = scope["state"]["principal"].scopes
    return scopes
