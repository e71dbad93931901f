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
    """Finds the messages in what arrives, in pieces of any size.

    A message that is too long is left out: a page decides how long a text in its console is, and
    must not end the pipe, and the browser with it.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._held = 0
        self._leaves_out = False

    def feed(self, data: bytes) -> list[Message]:
        """Return the messages that this data completes.

        Raises:
            PipeBroken: If one is no JSON object.
        """
        *ended, rest = data.split(b"\0")
        found = []
        for piece in ended:
            if not self._leaves_out:
                found.append(_message(b"".join([*self._parts, piece])))
            self._parts, self._held, self._leaves_out = [], 0, False
        # Joined only at the end: a long message in small pieces is not copied with each.
        self._held += len(rest)
        if self._held > LONGEST_MESSAGE:
            self._parts, self._leaves_out = [], True
        else:
            self._parts.append(rest)
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
