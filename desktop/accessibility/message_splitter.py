"""Splits what a message bus sends into messages, and keeps only the header of a long one. Pure.

Any program may send 128 MiB in one message, or answer with them. Source: D-Bus specification,
"Message Protocol".
"""

import struct
from dataclasses import dataclass

LARGEST = 1024 * 1024
"""Bytes of a message that is kept, such as the addresses of some 20,000 children."""
FIXED = 16
"""Bytes of a header before its fields: order, type, flags, version, three numbers."""


@dataclass(frozen=True)
class RawMessage:
    """The bytes of a message."""

    data: bytes
    whole: bool = True
    """False if the message was too long; then ``data`` is its header."""


class MessageSplitter:
    """Takes the bytes in any pieces; holds `LARGEST` bytes and one piece at most."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._skipped = 0

    def add(self, data: bytes) -> list[RawMessage]:
        """Return the messages that are complete with these bytes, and the headers of long ones."""
        self._buffer += data[self._skipped :]
        self._skipped = max(0, self._skipped - len(data))
        found: list[RawMessage] = []
        start = 0
        while (there := len(self._buffer) - start) >= FIXED:
            header, size = _sizes(self._buffer, start)
            whole = size <= LARGEST
            kept = size if whole else header
            if kept <= LARGEST:
                if there < kept:
                    break
                found.append(RawMessage(bytes(self._buffer[start : start + kept]), whole))
            self._skipped = max(0, size - there)
            start += min(size, there)
        del self._buffer[:start]
        return found


def _sizes(data: bytearray, start: int) -> tuple[int, int]:
    """Return the bytes of the header, and of the message."""
    order = "<" if data[start] == ord("l") else ">"
    body, _, fields = struct.unpack_from(f"{order}III", data, start + 4)
    header = FIXED + fields + -fields % 8
    return header, header + body
