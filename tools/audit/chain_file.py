"""The chain of a writer without a database, as a node has one: a file with one record on each line.

Nothing is removed from it. A line that was not written to its end, as the machine has lost its
power, is removed at the next start.
"""

import json
import logging
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .chain import AuditEvent, AuditRecord, ChainHead, linked, record_of

log = logging.getLogger(__name__)
Json = dict[str, Any]

MOST_WAITING = 10_000
"""Events that wait for room on the disk."""
_TAIL = 1 << 20
"""Bytes at the end of a file in which its last line is looked for."""


class BadChainFile(Exception):
    """A file has something else than records."""


class ChainFile:
    """Appends events to a file, as a context manager; ``now`` returns unix time.

    The writer of a new file is named after ``name``, with something random: the chain of a data
    directory that was lost is another one.
    """

    def __init__(self, file: Path, name: str, now: Callable[[], float]) -> None:
        self._file = file
        self._name = name
        self._now = now
        self._waiting: list[AuditEvent] = []
        self._descriptor = -1
        self._size = 0
        self._head = ChainHead("")

    def __enter__(self) -> Self:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(self._file, flags, 0o600)
        size = os.fstat(self._descriptor).st_size
        begin = max(0, size - _TAIL)
        lines = os.pread(self._descriptor, _TAIL, begin)
        end = lines.rfind(b"\n") + 1
        self._size = begin + end
        os.ftruncate(self._descriptor, self._size)
        self._head = self._continued(lines[:end].splitlines()[-1:])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)

    def note(self, actor: str, action: str, subject: str, details: Json | None = None) -> None:
        """Append an event; one that finds no room on the disk is appended with the next one."""
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(AuditEvent(self._now(), actor, action, subject, details or {}))
        records = linked(self._waiting, self._head)
        data = "".join(f"{json.dumps(record.to_json())}\n" for record in records).encode()
        try:
            self._append(data)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._file, error)
            return
        self._waiting.clear()
        self._head = ChainHead(records[-1].writer, records[-1].n, records[-1].hash)

    def _continued(self, last: list[bytes]) -> ChainHead:
        for line in last:
            try:
                record = record_of(json.loads(line))
            except (ValueError, KeyError, TypeError):
                # The verification reports it.
                log.warning("the last line of %s is no record; another chain begins", self._file)
            else:
                return ChainHead(record.writer, record.n, record.hash)
        return ChainHead(f"{self._name}-{secrets.token_hex(4)}")

    def _append(self, data: bytes) -> None:
        if os.write(self._descriptor, data) != len(data):
            # The disk became full within it.
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise OSError("there is no room on the disk")
        self._size += len(data)


def read_records(file: Path) -> Iterator[AuditRecord]:
    """Yield the records of a file.

    Raises:
        BadChainFile: If it has something else.
        OSError: If it cannot be read.
    """
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            yield record_of(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise BadChainFile(f"line {number} of {file} is no record") from error
