"""File in which tool calls are recorded for the service that starts next.

The file is JSON lines. A call is written when it begins and when it is answered. There are two
formats, and a journal reads both:

- actions: ``["began", chat, call, digest, at, generation]`` and
  ``["ended", chat, call, digest, at, generation, status, body]``
- detached calls: ``{"chat", "call", "digest", "at", "generation"}`` and
  ``{"chat", "call", "answer", "at", "generation"}``

``at`` is seconds since the epoch, because the file outlives the process. ``generation`` is the
fencing number under which the call was sent, 0 while nothing counts it; files of earlier versions
have none. A disk that cannot be written costs the memory of calls; it never prevents a call.
"""

import json
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .errors import CallRefused
from .table import KEPT_COUNT, KEPT_SECONDS, Key, drop_old

logger = logging.getLogger(__name__)

Answer = tuple[int, dict[str, Any]]
"""HTTP status and body."""

LONGEST_LINE = 65_536
"""Characters; a longer answer of a detached call is forgotten with the service."""
# An action takes two lines at most, and one after compaction.
_LONGEST_FILE = 8 * KEPT_COUNT
LEAST_GROWTH = 1 << 20
"""Bytes by which the file of detached calls grows at least before it is compacted. It grows by its
compacted size otherwise, so that the work of compaction stays in proportion to what is written."""
_BEGAN, _ENDED = "began", "ended"


@dataclass(frozen=True)
class _Entry:
    digest: str
    at: float
    answer: Answer | None = None
    """None: the call began, and its outcome is not known."""
    generation: int = 0


class Journal:
    """Calls that were begun, and their answers; without a file they end with the process.

    A journal of actions is the memory of this service's calls, too. A journal of detached calls
    holds those of earlier services only: its own are in the table of ``OncePerCall``.
    """

    def __init__(
        self,
        file: Path | None = None,
        wall: Callable[[], float] = time.time,
        *,
        detached: bool = False,
    ) -> None:
        """Read what an earlier service recorded, and drop expired calls from the file."""
        self._file = file
        self._wall = wall
        self._detached = detached
        self._entries = self._read()
        self._lines = 0
        self._room = 0
        """Bytes by which the file of detached calls may still grow before it is compacted."""
        self._compact(self._entries)

    def earlier(self, key: Key, digest: str | None = None) -> Answer | None:
        """Return the recorded answer; None if the call is not known.

        Raises:
            CallRefused: If the call has another digest (None fits all), or no answer.
        """
        entry = self._entries.get(key)
        if entry is None or (not self._detached and self._expired(entry.at)):
            return None
        if digest is not None and digest != entry.digest:
            raise CallRefused.mismatch()
        if entry.answer is not None:
            return entry.answer
        if self._detached:
            raise CallRefused.restarted()
        raise CallRefused.unknown("It was begun, and broke off before its answer.")

    def answered(self, key: Key) -> bool:
        """Return True if the journal holds an answer of the call."""
        entry = self._entries.get(key)
        return entry is not None and entry.answer is not None

    def generations(self) -> dict[str, int]:
        """Return the highest generation under which a call of each chat was recorded."""
        found: dict[str, int] = {}
        for (chat, _), entry in self._entries.items():
            found[chat] = max(found.get(chat, 0), entry.generation)
        return found

    def began(self, key: Key, digest: str, generation: int = 0) -> None:
        """Record that a call begins: from now on it may have had an effect."""
        self._record(key, _Entry(digest, self._wall(), None, generation))

    def ended(self, key: Key, digest: str, answer: Answer, generation: int = 0) -> None:
        """Record the answer of a call; a later answer replaces it."""
        self._record(key, _Entry(digest, self._wall(), answer, generation))

    def _record(self, key: Key, entry: _Entry) -> None:
        if not self._detached:
            self._remember(self._entries, key, entry)
            # The compacted file contains the new entry already.
            if self._lines >= _LONGEST_FILE:
                self._compact(self._entries)
                return
        if self._file is None:
            return
        text = json.dumps(self._line(key, entry))
        if self._detached and len(text) > LONGEST_LINE:
            return
        self._lines += 1
        self._room -= len(text)
        try:
            # Opened for each line, as closing flushes it: a begin must be in the file before its
            # effect.
            with self._file.open("a") as file:
                file.write(text + "\n")
        except OSError as error:
            logger.warning("a tool call is not kept: %s", error)
        if self._detached and self._room < 0:
            # Only the file has this service's own calls.
            self._compact(self._read())

    def _remember(self, entries: dict[Key, _Entry], key: Key, entry: _Entry) -> None:
        if entry.answer is not None:
            entries[key] = entry
            return
        # The dict is in the order of the begins, so expired entries are in front.
        entries.pop(key, None)
        entries[key] = entry
        drop_old(entries, entry.at - KEPT_SECONDS)

    def _expired(self, at: float) -> bool:
        return self._wall() - at > KEPT_SECONDS

    def _read(self) -> dict[Key, _Entry]:
        """Return the calls that the file has, without expired ones."""
        entries: dict[Key, _Entry] = {}
        for line in self._read_lines():
            self._restore(entries, line)
        return entries

    def _read_lines(self) -> Iterator[Any]:
        try:
            lines = self._file.read_text(errors="replace").splitlines() if self._file else []
        except OSError:
            return
        for text in lines:
            try:
                yield json.loads(text)
            except ValueError:
                # The last line is cut off if its writer was killed.
                continue

    def _restore(self, entries: dict[Key, _Entry], line: Any) -> None:
        match line:
            case [_, chat, call, digest, at, generation, status, body]:
                entry = _Entry(digest, at, (status, body), generation)
            case [_, chat, call, digest, at, status, body]:
                entry = _Entry(digest, at, (status, body))
            case [_, chat, call, digest, at, *generations]:
                entry = _Entry(digest, at, None, *generations)
            case {"chat": chat, "call": call, "digest": digest, "at": at}:
                entry = _Entry(digest, at, None, line.get("generation", 0))
            # Without its begin an answer has no digest, so repetitions could not be compared with
            # it.
            case {"chat": chat, "call": call, "answer": [status, body], "at": at}:
                if (chat, call) not in entries:
                    return
                entry = replace(entries[chat, call], answer=(status, body))
            case _:
                return
        if not self._expired(at):
            self._remember(entries, (chat, call), entry)

    def _compact(self, entries: dict[Key, _Entry]) -> None:
        if self._file is None:
            return
        lines = [json.dumps(line) + "\n" for line in self._all_lines(entries)]
        self._lines = len(lines)
        self._room = max(LEAST_GROWTH, sum(map(len, lines)))
        # A service that is killed while it writes leaves the old file, not half of a new one.
        partial = self._file.with_name(self._file.name + ".part")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text("".join(lines))
            partial.replace(self._file)
        except OSError as error:
            logger.warning("tool calls are not kept: %s", error)

    def _all_lines(self, entries: dict[Key, _Entry]) -> Iterator[Any]:
        for key, entry in entries.items():
            if self._detached and entry.answer is not None:
                yield self._line(key, replace(entry, answer=None))
            yield self._line(key, entry)

    def _line(self, key: Key, entry: _Entry) -> Any:
        chat, call = key
        if not self._detached:
            kind = _BEGAN if entry.answer is None else _ENDED
            facts = (entry.digest, entry.at, entry.generation)
            return [kind, chat, call, *facts, *(entry.answer or ())]
        end = {"at": entry.at, "generation": entry.generation}
        if entry.answer is None:
            return {"chat": chat, "call": call, "digest": entry.digest, **end}
        return {"chat": chat, "call": call, "answer": entry.answer, **end}
