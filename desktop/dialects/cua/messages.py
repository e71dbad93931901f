"""Requests and answers of cua's protocol, over HTTP and WebSocket. Pure.

cua-computer sends ``{command, params}``. cua-sandbox sends over a WebSocket the parameters beside
the command, and reads ``result`` alone. Its ``shell.run`` even replaces the name of the command:
``{"command": "echo hello", "timeout": 30}``.
"""

import json
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.errors import DesktopRefused

from .commands import resolved
from .errors import RefusedCommand
from .route_call import Json

AUTHENTICATE = "authenticate"
"""Command with a credential, which the WebSocket's request has already."""
LARGE = 65_536
"""Characters from which an answer is not sent twice."""
_SHELL = {"command", "timeout"}


@dataclass(frozen=True)
class CommandRequest:
    """One command of a client."""

    command: str
    params: Json
    flat: bool = False
    """True for a client that reads ``result`` alone."""


def http_request(body: bytes) -> CommandRequest:
    """Read the body of ``POST /cmd``.

    Raises:
        RefusedCommand: If it names no command that is served.
    """
    value = _object(body)
    return CommandRequest(resolved(_name(value)), _params(value.get("params")))


def websocket_request(message: str | bytes) -> CommandRequest | None:
    """Read a message; None for the command that authenticates.

    Raises:
        RefusedCommand: If it names no command that is served.
    """
    value = _object(message)
    name = _name(value)
    if name == AUTHENTICATE:
        return None
    if set(value) == _SHELL:
        return CommandRequest("run_command", value, flat=True)
    if isinstance(value.get("params"), dict):
        return CommandRequest(resolved(name), value["params"])
    flat = {key: item for key, item in value.items() if key != "command"}
    return CommandRequest(resolved(name), flat, flat=True)


def http_answer(fields: Json) -> bytes:
    """Return the answer of ``POST /cmd``: one event."""
    return f"data: {json.dumps({'success': True, **fields})}\n\n".encode()


def websocket_answer(asked: CommandRequest | None, fields: Json) -> str:
    """Return the answer over a WebSocket: the fields twice, flat and as ``result``.

    A large answer has only what its client reads: cua-sandbox closes at messages of 1 MiB.
    """
    answer = {"success": True, **fields}
    if asked is None or "error" in fields or "result" in fields:
        return json.dumps(answer)
    result = _result(asked.command, fields)
    text = json.dumps(answer)
    if len(text) <= LARGE:
        return json.dumps({**answer, "result": result})
    return json.dumps({"success": True, "result": result}) if asked.flat else text


def failure(error: Exception) -> Json:
    """Return the fields of the answer for an error."""
    if isinstance(error, DesktopRefused):
        # Clients compare the beginning.
        text = f"{error.code}: {error.detail or error.message}" if error.code else str(error)
        return {"success": False, "error": text}
    return {"success": False, "error": str(error)}


def _result(command: str, fields: Json) -> Any:
    match command:
        case "screenshot":
            return fields["image_data"]
        case "get_screen_size":
            return fields["size"]
        case _:
            return {"success": True, **fields}


def _object(message: str | bytes) -> Json:
    try:
        text = message.decode() if isinstance(message, bytes) else message
        value = json.loads(text)
        if "\\u" in text:
            # JSON accepts a lone surrogate, but nothing can encode it as UTF-8.
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise RefusedCommand("Invalid JSON") from error
    if not isinstance(value, dict):
        raise RefusedCommand("A request is a JSON object")
    return value


def _name(value: Json) -> str:
    name = value.get("command")
    if not isinstance(name, str) or not name:
        raise RefusedCommand("Command not specified")
    return name


def _params(value: Any) -> Json:
    if value is not None and not isinstance(value, dict):
        raise RefusedCommand("params is a JSON object")
    return value or {}
