"""Log of the requests to a scripted server, for the author of a script."""

import json
import time
from collections import deque
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self, TextIO

from .script.request import Measured

MOST_ENTRIES = 1_000
"""Entries kept in memory; tests read a handful."""
LARGEST_FILE = 10 * 1024 * 1024


@dataclass(frozen=True)
class LogEntry:
    """One request with its answer."""

    model: str
    status: int
    messages: int
    pictures: tuple[Measured, ...]
    """Type and size of each picture it carried, as decoded from the bytes."""
    step: int | None = None
    fault: str | None = None
    error: str | None = None


class RequestLog:
    """The newest entries in memory and, with a path, all of them in a file of JSON lines.

    A file that has become large is truncated when it is opened.
    """

    def __init__(self, path: Path | None) -> None:
        self.entries: deque[LogEntry] = deque(maxlen=MOST_ENTRIES)
        self._path = path
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        if self._path is not None:
            large = self._path.exists() and self._path.stat().st_size > LARGEST_FILE
            # Buffered by line: the author of a script follows the file while the server runs.
            self._file = self._path.open("w" if large else "a", encoding="utf-8", buffering=1)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, entry: LogEntry) -> None:
        """Add an entry to the memory and to the file."""
        self.entries.append(entry)
        if self._file is not None:
            line = {
                "time": time.time(),
                "picture_count": len(entry.pictures),
                **asdict(entry),
            }
            # A full disk must not fail the request: the log is only for the author of a script.
            with suppress(OSError):
                self._file.write(json.dumps(line) + "\n")
