"""First message to the helper, and the requests to the fork server.

The fork server answers the first message by its own pid. It answers `START` and `FILTER`, which
come with a socket, by the pid of the new helper or filter of X clients, and `END` with a pid and a
number of seconds by `ENDED`, when it has reaped that process.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

START, FILTER, END, ENDED = "start", "filter", "end", "ended"

LONGEST = 100_000
"""Bytes of the first message, which has to fit into one packet (unix(7))."""


@dataclass(frozen=True)
class HelperStart:
    """Facts that the helper needs at its start."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment of the programs that it runs."""
    roots: tuple[str, ...] = ()
    """Trees that file operations are confined to; empty for all."""
    user: tuple[int, int] | None = None
    """User and group to become; None to stay who it is."""
    umask: int | None = None
    groups: tuple[int, ...] = ()
    """Supplementary groups of that user."""
    pictures: str = ""
    """Folder of the library that decodes pictures; empty if none are decoded."""
    service: tuple[int, int] | None = None
    """User and group of a filter; None to stay who it is."""

    def line(self) -> bytes:
        """Return the message.

        Raises:
            OSError: If it is too long.
        """
        data = json.dumps(asdict(self)).encode() + b"\n"
        if len(data) > LONGEST:
            raise OSError(f"an environment of {len(data)} bytes is too long")
        return data

    @classmethod
    def parse(cls, line: bytes) -> "HelperStart":
        """Read the message."""
        body = json.loads(line)
        # JSON has no tuples.
        for name in ("roots", "groups", "user", "service"):
            body[name] = None if body[name] is None else tuple(body[name])
        return cls(**body)
