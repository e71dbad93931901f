"""Requests of the process core, parsed from JSON bodies and query strings."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import known
from deskhand.desktop.programs.program import UserName

from .errors import BadProcessRequest

SIGNALS = ("terminate", "kill", "interrupt")
MOST_KEPT = 64 * 1024 * 1024
"""Bytes of an output that are copied at most, so that an endless one cannot fill the disk."""
LONGEST_WAIT_MS = 300_000
LARGEST_NUMBER = 2**53
"""Integers beyond this are not interoperable in JSON (RFC 8259, section 6)."""

LARGEST_TERMINAL = 1_000
"""Rows or columns of a terminal."""

_SIZE = ("rows", "columns")
_START = (
    *("command", "workdir", "env", "background", "timeout_ms", "name", "output_path"),
    *("stdin", "pty", *_SIZE, "tool_call_id", "call_age_ms"),
)

T = TypeVar("T")


@dataclass(frozen=True)
class Terminal:
    """Size of a terminal, in characters."""

    rows: int = 24
    columns: int = 80


@dataclass(frozen=True)
class StartRequest:
    """A command to run by ``sh -c``."""

    command: str
    workdir: str = ""
    env: tuple[tuple[str, str], ...] = ()
    background: bool = False
    timeout_ms: int = 0
    """Time that the caller intends to wait; recorded, never enforced."""
    name: str = ""
    output_path: str = ""
    """Absolute path of a file that the output is copied to; empty for the service's own."""
    stdin: bool = False
    pty: Terminal | None = None
    """Size of the terminal to run in, for interactive programs; None for a pipe."""
    tool_call_id: str = ""
    """Id of the tool call, where no header contains it."""
    call_age_ms: int = 0
    """Time since the tool call was first sent, if this is a repetition."""


def digest(request: StartRequest) -> str:
    """Return a hash of the request without the fields that differ between repetitions."""
    same = asdict(replace(request, call_age_ms=0, tool_call_id=""))
    return hashlib.sha256(repr(sorted(same.items())).encode()).hexdigest()


@dataclass(frozen=True)
class LaunchRequest(StartRequest):
    """An application that the service launches: it goes on while a person is in private."""

    descriptors: tuple[int, ...] = ()
    """Descriptors that it gets as 3, 4 and so on; they stay open here."""
    user: UserName = "agent"


@dataclass(frozen=True)
class SignalRequest:
    """A signal for a whole process group."""

    signal: str
    escalate_after_ms: int = 0
    """Time after ``terminate`` until the rest of the group is killed; 0 for never."""


@dataclass(frozen=True)
class InputRequest:
    """Bytes for a process's standard input."""

    data: bytes
    close: bool = False
    """True to close stdin after the data."""


@dataclass(frozen=True)
class OutputRequest:
    """Range of output to return, and the condition to wait for."""

    wait_for: str | None = None
    """``exit``, ``output``, or None to answer at once."""
    wait_ms: int = LONGEST_WAIT_MS
    from_execute: bool = False
    cursor: int | None = None
    limit: int = 32_768
    newest: bool = False
    """Whether the end of the last line, and the last frame of each, go before what is older."""
    raw: int | None = None
    """Most bytes of the whole output; None for the text of a part."""


def body_of(data: bytes, *names: str) -> dict[str, Any]:
    """Return the JSON object in ``data``, whose fields have these names."""
    try:
        body = json.loads(data)
        # JSON permits escaped lone surrogates, which cannot be encoded in UTF-8 later.
        json.dumps(body, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise BadProcessRequest("Request body must be valid JSON.", str(error)) from error
    if not isinstance(body, dict):
        raise BadProcessRequest("Request body must be valid JSON.", "It has to be an object.")
    try:
        known(body, names)
    except BadField as error:
        raise BadProcessRequest(error.message, error.detail) from error
    return body


def start_request(data: bytes) -> StartRequest:
    """Read the body of a start."""
    body = body_of(data, *_START)
    env = _field(body, "env", dict, {})
    if not all(isinstance(v, str) and _plain(k) and "\0" not in v for k, v in env.items()):
        raise BadProcessRequest("Request body must be valid JSON.", "env maps names to texts.")
    request = StartRequest(
        command=_field(body, "command", str, ""),
        workdir=_field(body, "workdir", str, ""),
        env=tuple(env.items()),
        background=_field(body, "background", bool, False),
        timeout_ms=_field(body, "timeout_ms", int, 0),
        name=_field(body, "name", str, ""),
        output_path=_field(body, "output_path", str, ""),
        stdin=_field(body, "stdin", bool, False),
        pty=_terminal(body),
        tool_call_id=_field(body, "tool_call_id", str, ""),
        call_age_ms=_field(body, "call_age_ms", int, 0),
    )
    if not request.command:
        raise BadProcessRequest("Command is required.")
    if any("\0" in text for text in (request.command, request.workdir, request.output_path)):
        raise BadProcessRequest("Command, workdir and output_path must not contain NUL.")
    if request.output_path and not request.output_path.startswith("/"):
        raise BadProcessRequest("output_path must be absolute.", repr(request.output_path))
    if request.call_age_ms < 0:
        raise BadProcessRequest("The tool call's age must not be negative.")
    if request.background and request.timeout_ms:
        raise BadProcessRequest("Background processes take no timeout_ms: nobody waits for them.")
    return request


def signal_request(data: bytes) -> SignalRequest:
    """Read the body of a signal."""
    body = body_of(data, "signal", "escalate_after_ms")
    name = _field(body, "signal", str, "")
    if not name:
        raise BadProcessRequest("Signal is required.")
    if name not in SIGNALS:
        raise BadProcessRequest(f"Unsupported signal {name!r}: it is one of {', '.join(SIGNALS)}.")
    return SignalRequest(name, max(_field(body, "escalate_after_ms", int, 0), 0))


def input_request(data: bytes) -> InputRequest:
    """Read the body of an input."""
    body = body_of(data, "data", "close")
    text = _field(body, "data", str, "")
    return InputRequest(text.encode(), _field(body, "close", bool, False))


def resize_request(data: bytes) -> Terminal:
    """Read the body of a resize."""
    return _size(body_of(data, *_SIZE))


def output_request(query: Mapping[str, str]) -> OutputRequest:
    """Read the query of an output call."""
    wait_for = query.get("wait_for")
    if wait_for not in (None, "", "exit", "output"):
        raise BadProcessRequest(
            "Query parameters are invalid.", "wait_for is either exit or output."
        )
    if not wait_for and query.get("wait") == "true":
        wait_for = "exit"
    return OutputRequest(
        wait_for=wait_for or None,
        wait_ms=min(number(query, "timeout_ms", LONGEST_WAIT_MS), LONGEST_WAIT_MS),
        from_execute=query.get("timeout_from_execute") == "true",
        cursor=number(query, "cursor", 0) if "cursor" in query else None,
        limit=min(max(number(query, "limit", 32_768), 1), 65_536),
        newest=query.get("newest") == "true",
        raw=_raw_limit(query) if query.get("raw") == "true" else None,
    )


def _raw_limit(query: Mapping[str, str]) -> int:
    if "cursor" in query:
        raise BadProcessRequest(
            "Query parameters are invalid.", "raw takes ranges (the header Range), and no cursor."
        )
    return min(max(number(query, "limit", MOST_KEPT), 1), MOST_KEPT)


def number(query: Mapping[str, str], name: str, default: int) -> int:
    """Return a query parameter that must be a whole number from 0 on."""
    text = query.get(name, "")
    if not text:
        return default
    # str.isdigit accepts digits of other scripts too; 18 digits always fit into 64 bits.
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise BadProcessRequest(
            "Query parameters are invalid.", f"{name} must be a number from 0 on."
        )
    return int(text)


def _terminal(body: Mapping[str, Any]) -> Terminal | None:
    if isinstance(body.get("pty"), dict):
        try:
            known(body["pty"], _SIZE, "pty.")
        except BadField as error:
            raise BadProcessRequest(error.message, error.detail) from error
        return _size(body["pty"])
    return _size(body) if _field(body, "pty", bool, False) else None


def _size(body: Mapping[str, Any]) -> Terminal:
    usual = Terminal()
    size = Terminal(
        _field(body, "rows", int, usual.rows), _field(body, "columns", int, usual.columns)
    )
    if not all(1 <= side <= LARGEST_TERMINAL for side in (size.rows, size.columns)):
        raise BadProcessRequest(f"rows and columns of a terminal are 1 to {LARGEST_TERMINAL}.")
    return size


def _field(body: Mapping[str, Any], name: str, kind: type[T], default: T) -> T:
    value = body.get(name)
    if value is None:
        return default
    # JSON has one kind of number: some encoders write 3.0 for 3.
    if kind is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    # bool is a subclass of int in Python, but true is no number in JSON.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadProcessRequest(
            "Request body must be valid JSON.", f"{name} has to be of type {kind.__name__}."
        )
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise BadProcessRequest(f"{name} is too large a number.")
    return value


def _plain(name: str) -> bool:
    # execve(2) takes NUL-terminated strings NAME=value, so a name can contain neither.
    return bool(name) and "=" not in name and "\0" not in name
