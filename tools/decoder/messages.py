"""Messages between the control plane, the decoder process and its workers. Pure.

A request is one JSON message with descriptors: first the socket for the reply, then those of the
bytes to decode. A reply is one line of JSON and the bytes of the result, up to the end of the
stream. A reply that does not begin with a line of JSON comes of a worker that has died.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

Json = dict[str, Any]
Kind = Literal["cut", "still", "sprite", "finish", "pixels", "animate", "sheet", "crops", "trail"]
MIB = 1024 * 1024
CLIP = "clip.mp4"
"""Name of a clip in the folder of the worker."""


@dataclass(frozen=True)
class WorkerLimits:
    """What one worker may use."""

    cpu_seconds: int
    seconds: float
    """Of real time."""
    memory: int = 768 * MIB
    """Bytes of address space beyond those of the decoder process."""
    file: int = 0
    """Bytes of each file that it writes."""
    reply: int = 64 * MIB


PICTURE = WorkerLimits(cpu_seconds=10, seconds=20.0, reply=256 * MIB)
VIDEO = WorkerLimits(cpu_seconds=10, seconds=30.0)
PICTURES = WorkerLimits(cpu_seconds=60, seconds=60.0, memory=512 * MIB)
"""For pictures of many moments of a video."""
RECORDING = WorkerLimits(cpu_seconds=300, seconds=600.0)
"""For recordings of dead desktops, whose files are read from begin to end."""
LARGEST_PICTURE = 64_000_000
"""Pixels; a larger picture would not fit into the memory."""


@dataclass(frozen=True)
class DecodeRequest:
    """One piece of work for a worker."""

    kind: Kind
    arguments: Json
    limits: WorkerLimits
    folder: str = ""
    """The only folder that the worker sees: its current directory."""


@dataclass(frozen=True)
class DecodeReply:
    """The result of a worker."""

    value: Any
    error: str = ""
    """The kind of an error: ``unreadable``, ``failed``, ``resources`` or ``system``."""
    detail: str = ""
    number: int = 0
    """The ``errno`` of an error of the system."""
    data: bytes = b""


def request_bytes(request: DecodeRequest) -> bytes:
    """Return the message of a request."""
    return json.dumps(asdict(request)).encode()


def read_request(data: bytes) -> DecodeRequest:
    """Read what `request_bytes` has written."""
    fields = json.loads(data)
    return DecodeRequest(**fields | {"limits": WorkerLimits(**fields["limits"])})


def reply_bytes(reply: DecodeReply) -> bytes:
    """Return the bytes of a reply."""
    head = {k: v for k, v in asdict(reply).items() if k != "data"}
    return json.dumps(head).encode() + b"\n" + reply.data


def read_reply(data: bytes) -> DecodeReply | None:
    """Read what `reply_bytes` has written; None if the worker died before the end of the head.

    Workers decode bytes of agents, so that every reply may be forged.
    """
    head, newline, rest = data.partition(b"\n")
    if not newline:
        return None
    try:
        fields = json.loads(head)
    # Deeply nested JSON raises ``RecursionError``.
    except (ValueError, RecursionError):
        return None
    match fields:
        case {"value": value, "error": str(error), "detail": str(detail), "number": int(number)}:
            return DecodeReply(value, error, detail, number, rest)
    return None
