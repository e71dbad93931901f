"""Messages of the agent's socket: one JSON object in one line for each connection. Pure.

The client sends one request. The service answers with one object; after the start of a program it
sends a second one, ``{"exit_code": N}``, when the program has ended. An answer with ``error`` holds
its ``code`` and ``message``. A request names no chat: the service finds it by the process.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from .errors import RefusedRequest

LONGEST_REQUEST = 65_536
"""Bytes of one line."""
MOST_ARGUMENTS = 256
PROGRAMS = ("browser", "terminal")
"""Programs that the service launches by name."""

Json = dict[str, Any]


@dataclass(frozen=True)
class StatusAsked:
    """Question for the desktop's identity and the caller's chat."""


@dataclass(frozen=True)
class StatusReported:
    """A status message of the caller's chat for people."""

    text: str


@dataclass(frozen=True)
class ProgramWanted:
    """Launch of one of `PROGRAMS`."""

    name: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class OpeningWanted:
    """Launch of the application for an absolute path or an address."""

    target: str

    @property
    def is_path(self) -> bool:
        """True for a path, False for an address."""
        return self.target.startswith("/")


@dataclass(frozen=True)
class InputWanted:
    """Input as the caller's chat; ``body`` is that of the route of one action or of several."""

    body: Json = field(hash=False)

    @property
    def is_batch(self) -> bool:
        """True for several actions."""
        return "actions" in self.body


@dataclass(frozen=True)
class CredentialWanted:
    """A prompt of git or ssh, with the working tree that it comes from."""

    prompt: str
    branch: str = ""
    origin: str = ""


AgentRequest = (
    StatusAsked | StatusReported | ProgramWanted | OpeningWanted | InputWanted | CredentialWanted
)


class RequestReader:
    """Finds the first line in what arrives, in pieces of any size."""

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> bytes | None:
        """Return the line without its end, or None until it is complete.

        Raises:
            RefusedRequest: If it is longer than `LONGEST_REQUEST`.
        """
        self._data += data
        line, end, _ = self._data.partition(b"\n")
        if len(line) > LONGEST_REQUEST:
            raise RefusedRequest("too_long", f"A request has {LONGEST_REQUEST} bytes at most.")
        return line if end else None


def request_in(line: bytes) -> AgentRequest:
    """Return the request of a line.

    Raises:
        RefusedRequest: If it is malformed, or this socket does not serve it.
    """
    try:
        body = json.loads(line)
        # JSON permits escaped lone surrogates, which cannot be encoded in UTF-8 later.
        json.dumps(body, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise _malformed("It must be one JSON object.") from None
    if not isinstance(body, dict):
        raise _malformed("It must be one JSON object.")
    kind = body.get("do")
    if kind == "status":
        return StatusReported(_text(body, "text")) if "text" in body else StatusAsked()
    if kind == "launch":
        return _launch(body)
    if kind == "open":
        return _opening(body)
    if kind == "input":
        return InputWanted({name: value for name, value in body.items() if name != "do"})
    if kind == "askpass":
        found = {name: _text(body, name) for name in ("prompt", "branch", "origin")}
        return CredentialWanted(**found)
    served = "askpass, input, launch, open and status"
    raise RefusedRequest("unknown_request", f"This socket serves {served} only.")


def line_of(answer: Json) -> bytes:
    """Return the line of an answer."""
    return json.dumps(answer).encode() + b"\n"


def error_answer(code: str, message: str) -> Json:
    """Return the answer that reports an error."""
    return {"error": {"code": code, "message": message}}


def _launch(body: Json) -> ProgramWanted:
    name, arguments = _text(body, "name"), body.get("arguments", [])
    if name not in PROGRAMS:
        raise RefusedRequest("unknown_program", f"This socket launches {' and '.join(PROGRAMS)}.")
    if not isinstance(arguments, list) or len(arguments) > MOST_ARGUMENTS:
        raise _malformed(f'"arguments" is a list of {MOST_ARGUMENTS} texts at most.')
    if not all(isinstance(one, str) and "\0" not in one for one in arguments):
        raise _malformed('"arguments" holds texts without NUL.')
    return ProgramWanted(name, tuple(arguments))


def _opening(body: Json) -> OpeningWanted:
    target = _text(body, "target")
    if not target:
        raise _malformed('"target" is missing.')
    return OpeningWanted(target)


def _text(body: Json, name: str) -> str:
    value = body.get(name, "")
    if not isinstance(value, str) or "\0" in value:
        raise _malformed(f'"{name}" must be a text without NUL.')
    return value


def _malformed(detail: str) -> RefusedRequest:
    return RefusedRequest("malformed", f"The request is malformed. {detail}")
