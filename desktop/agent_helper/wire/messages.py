"""Messages between the service and the helper, and their JSON.

The service sends calls, each with an id of its own; it may cancel a call, and it releases a handle
that a call returned. The helper answers each call once, by a result or an error, in any order. A
cancelled call is answered too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .frames import BrokenFrame

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A call of an operation."""

    id: int
    operation: str
    arguments: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Cancel:
    """The caller does not wait any more; what can be interrupted is."""

    call: int


@dataclass(frozen=True)
class Release:
    """The service does not use an open resource of the helper any more."""

    handle: int


@dataclass(frozen=True)
class Completed:
    """The result of a call; the frame may have descriptors."""

    call: int
    value: Json
    handle: int | None = None
    """An open resource of the helper, until it is released or the helper ends."""


@dataclass(frozen=True)
class CallFailed:
    """The error of a call."""

    call: int
    error: Json


Request = Call | Cancel | Release
Answer = Completed | CallFailed


def request_json(message: Request) -> Json:
    """Return the JSON of a message to the helper."""
    if isinstance(message, Call):
        return {"call": message.id, "do": message.operation, "with": message.arguments}
    if isinstance(message, Cancel):
        return {"cancel": message.call}
    return {"release": message.handle}


def request_of(body: Mapping[str, Any]) -> Request:
    """Parse a message to the helper.

    Raises:
        BrokenFrame: If it is none.
    """
    match body:
        case {"call": int(number), "do": str(operation), "with": dict(arguments)}:
            return Call(number, operation, arguments)
        case {"cancel": int(number)}:
            return Cancel(number)
        case {"release": int(handle)}:
            return Release(handle)
    raise BrokenFrame("no request")


def answer_json(message: Answer) -> Json:
    """Return the JSON of a message to the service."""
    if isinstance(message, CallFailed):
        return {"call": message.call, "error": message.error}
    handle = {} if message.handle is None else {"handle": message.handle}
    return {"call": message.call, "result": message.value} | handle


def answer_of(body: Mapping[str, Any]) -> Answer:
    """Parse a message to the service.

    Raises:
        BrokenFrame: If it is none.
    """
    match body:
        case {"call": int(number), "result": dict(value)}:
            handle = body.get("handle")
            if handle is None or isinstance(handle, int):
                return Completed(number, value, handle)
        case {"call": int(number), "error": dict(error)}:
            return CallFailed(number, error)
    raise BrokenFrame("no answer")
