"""Which chat a request speaks for."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from .errors import BadCaller

CHAT = "Deskhand-Chat-Id"
TOOL_CALL = "Deskhand-Tool-Call-Id"
LONGEST_TOOL_CALL = 200


def chat_id(headers: Mapping[str, str]) -> str | None:
    """Return the calling chat's id in its usual form, ``None`` if no header names one.

    Header names are looked up as they are: the mapping must not care about case.

    Raises:
        BadCaller: If a header is there and holds no UUID.
    """
    for name in (CHAT, "Coder-Chat-Id"):
        value = headers.get(name)
        if value is not None:
            try:
                return str(UUID(value.strip()))
            except ValueError:
                raise BadCaller(name, value) from None
    return None


def tool_call_id(headers: Mapping[str, str]) -> str | None:
    """Return the caller's own name of this call, if it gave a usable one."""
    value = headers.get(TOOL_CALL) or headers.get("Coder-Tool-Call-Id") or ""
    value = value.strip()
    usable = value.isascii() and value.isprintable() and len(value) <= LONGEST_TOOL_CALL
    return value if value and usable else None


def principal_name(scope: Mapping[str, Any]) -> str:
    """Return the name of the credential that the border found with an ASGI request."""
    name: str = scope["state"]["principal"].name
    return name


def principal_scopes(scope: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what that credential is good for."""
    scopes: tuple[str, ...] = scope["state"]["principal"].scopes
    return scopes
