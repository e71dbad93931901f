"""The used tickets of a node in a file, so that a gate that was restarted knows them.

Each mark is appended before a live view opens. A write that has returned outlives the process, and
no ticket outlives a restart of the host for long enough, so nothing is synchronized. The file is
written anew when it is opened, and when it has :data:`MOST_LINES`.
"""

import errno
import logging
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Self

from deskhand.tools.cluster.errors import TicketRefused
from deskhand.tools.cluster.tickets import LiveTicket

from .used_tickets import TicketMark, UsedTickets, marks_of

log = logging.getLogger(__name__)

MOST_LINES = 10_000
"""About a megabyte; viewers use a few tickets a minute."""


class TicketJournal:
    """The used tickets of one node; times are unix times."""

    def __init__(self, file: Path, now: float, most_lines: int = MOST_LINES) -> None:
        """Read the file, and write it anew without what is over.

        Raises:
            OSError: If it cannot be read or written.
        """
        self._file = file
        self._most_lines = most_lines
        text = file.read_text(errors="replace") if file.exists() else ""
        self._used = UsedTickets(marks_of(text))
        self._written = self._rewritten(now)
        self._lines = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._written)

    def use(self, ticket: LiveTicket, now: float) -> None:
        """Record the use of a ticket.

        Raises:
            TicketRefused: If it was used before, its credential was revoked, or its use cannot be
                recorded.
        """
        mark = self._used.use(ticket, now)
        try:
            self._append([mark], now)
        except OSError as error:
            log.error("the use of a ticket is not recorded: %s", error)
            raise TicketRefused("the node cannot record its use") from error

    def revoke(self, credentials: Collection[str], now: float) -> None:
        """Refuse the tickets of credentials from now on."""
        marks = self._used.revoke(credentials, now)
        try:
            self._append(marks, now)
        except OSError as error:
            # In this process it counts all the same.
            log.error("the end of %d credentials is not recorded: %s", len(marks), error)

    def _append(self, marks: Iterable[TicketMark], now: float) -> None:
        if self._lines >= self._most_lines:
            written = self._rewritten(now)
            os.close(self._written)
            self._written, self._lines = written, 0
            return
        lines = [mark.line for mark in marks]
        # A line that was cut, as on a full disk, must not spoil the next one.
        _write(self._written, "\n" + "".join(lines))
        self._lines += len(lines)

    def _rewritten(self, now: float) -> int:
        """Write what is remembered, and return the descriptor of the file for appending."""
        new = self._file.with_name(f"{self._file.name}.new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        written = os.open(new, flags, 0o600)
        try:
            _write(written, "".join(mark.line for mark in self._used.marks(now)))
            new.replace(self._file)
        except OSError:
            os.close(written)
            raise
        return written


def _write(descriptor: int, text: str) -> None:
    data = text.encode()
    if os.write(descriptor, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
