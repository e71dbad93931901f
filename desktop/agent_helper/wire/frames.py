"""Frames of the socket between service and helper: a length, a number of descriptors, JSON.

The descriptors of a frame (SCM_RIGHTS, unix(7)) are attached to its first byte, so that they have
arrived when the frame is complete. Paths that are not valid UTF-8 have lone surrogates (PEP 383),
which JSON carries escaped.
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

LONGEST = 64 * 1024 * 1024
"""Bytes of one frame: a diff of 3 MiB whose characters are all escaped takes less."""
MOST_DESCRIPTORS = 4

_HEADER = struct.Struct("!IB")


class BrokenFrame(Exception):
    """The other side sent no frame of this protocol."""


@dataclass(frozen=True)
class WireFrame:
    """A message, and the number of descriptors that came with it."""

    body: Json
    descriptors: int = 0


def encoded(frame: WireFrame) -> bytes:
    """Return the bytes of a frame.

    Raises:
        BrokenFrame: If it is too long.
    """
    data = json.dumps(frame.body, separators=(",", ":")).encode()
    if len(data) > LONGEST:
        raise BrokenFrame(f"a message of {len(data)} bytes is too long")
    return _HEADER.pack(len(data), frame.descriptors) + data


class FrameParser:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[WireFrame]:
        """Yield the frames that are complete now.

        Raises:
            BrokenFrame: If the bytes are no frame; the stream cannot be used after that.
        """
        self._data += data
        while len(self._data) >= _HEADER.size:
            length, descriptors = _HEADER.unpack_from(self._data)
            if length > LONGEST or descriptors > MOST_DESCRIPTORS:
                raise BrokenFrame(f"{length} bytes with {descriptors} descriptors")
            end = _HEADER.size + length
            if len(self._data) < end:
                return
            body = bytes(self._data[_HEADER.size : end])
            del self._data[:end]
            yield WireFrame(_object(body), descriptors)


def _object(data: bytes) -> Json:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BrokenFrame(str(error)) from error
    if not isinstance(body, dict):
        raise BrokenFrame("no JSON object")
    return body
