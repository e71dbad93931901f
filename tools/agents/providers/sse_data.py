"""Parser of server-sent events (HTML standard, section 9.2.6), as far as providers use them. Pure.

Only the ``data`` fields are read: each contains its own type.
"""

from collections.abc import Iterator


class SseData:
    """Accumulates bytes and yields the data of each complete event."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Parse the next bytes."""
        # A chunk may end anywhere, also within a character of UTF-8: the rest stays bytes until its
        # line ends.
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            line = line.removesuffix(b"\r")
            if line.startswith(b"data:"):
                self._data.append(line.removeprefix(b"data:").removeprefix(b" "))
            # An empty line ends an event, whose data may have several lines.
            elif not line and self._data:
                event, self._data = b"\n".join(self._data), []
                yield event
