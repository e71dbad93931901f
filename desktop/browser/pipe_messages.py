"""Messages of the browser's debugging pipe, each one a JSON object that a NUL byte ends. Pure.

With the switch ``--remote-debugging-pipe``, Chromium reads requests from its descriptor 3, and
writes answers and events to its descriptor 4 (https://chromedevtools.github.io/devtools-protocol/).
"""

import json
from typing import Any

Message = dict[str, Any]

LONGEST_MESSAGE = 64 * 1024 * 1024
"""Bytes; pictures of pages are the longest."""


class PipeBroken(ValueError):
    """The bytes of the pipe are no messages; it cannot be used any more."""


class PipeReader:
    """Finds the messages in what arrives, in pieces of any size."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._held = 0

    def feed(self, data: bytes) -> list[Message]:
        """Return the messages that this data completes.

        Raises:
            PipeBroken: If one is too long, or no JSON object.
        """
        *ended, rest = data.split(b"\0")
        found = []
        for piece in ended:
            found.append(_message(b"".join([*self._parts, piece])))
            self._parts, self._held = [], 0
        # Joined only at the end: a long message in small pieces is not copied with each.
        self._parts.append(rest)
        self._held += len(rest)
        if self._held > LONGEST_MESSAGE:
            raise PipeBroken(f"a message has more than {LONGEST_MESSAGE} bytes")
        return found


def framed(message: Message) -> bytes:
    """Return the bytes of a message with its end."""
    # JSON escapes NUL characters, so the end is the only NUL byte.
    return json.dumps(message, separators=(",", ":")).encode() + b"\0"


def _message(data: bytes) -> Message:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PipeBroken("a message is no JSON") from error
    if not isinstance(found, dict):
        raise PipeBroken("a message is no JSON object")
    return found
