"""Which tool calls were begun, on disk: a service that starts again does not make one twice."""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .table import KEPT_COUNT, KEPT_SECONDS, Key

logger = logging.getLogger(__name__)

LONGEST_LINE = 65_536
"""Characters; a longer answer is forgotten with the service."""

Answer = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class Past:
    """A call that an earlier service began."""

    digest: str
    answer: Answer | None
    """None: nobody knows how far it came."""


@dataclass
class CallJournal:
    """Appends to one file. A disk that refuses costs the memory, not the call."""

    path: Path
    wall: Callable[[], float] = time.time
    past: dict[Key, Past] = field(default_factory=dict)
    """What an earlier service left, after ``open``."""

    def open(self) -> None:
        """Read what an earlier service left, and keep no more of it than is needed."""
        lines = self._lines()
        for line in lines:
            key = (line["chat"], line["call"])
            if "digest" in line:
                self.past[key] = Past(line["digest"], None)
            elif key in self.past:
                status, body = line["answer"]
                self.past[key] = replace(self.past[key], answer=(status, body))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        except OSError as error:
            logger.warning("tool calls are not kept: %s", error)

    def began(self, key: Key, digest: str) -> None:
        """Note that a call begins; only then may it."""
        self._append({"chat": key[0], "call": key[1], "digest": digest, "at": self.wall()})

    def answered(self, key: Key, answer: Answer) -> None:
        """Note what a call was answered."""
        self._append({"chat": key[0], "call": key[1], "answer": answer, "at": self.wall()})

    def _append(self, line: dict[str, Any]) -> None:
        text = json.dumps(line)
        if len(text) > LONGEST_LINE:
            return
        try:
            with self.path.open("a") as file:
                file.write(text + "\n")
        except OSError as error:
            logger.warning("a tool call is not kept: %s", error)

    def _lines(self) -> list[dict[str, Any]]:
        try:
            with self.path.open(errors="replace") as file:
                found = [line for text in file if (line := _line(text))]
        except OSError:
            return []
        oldest = self.wall() - KEPT_SECONDS
        return [line for line in found if line["at"] >= oldest][-2 * KEPT_COUNT :]


def _line(text: str) -> dict[str, Any] | None:
    # The last line may be cut: its writer was killed.
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and {"chat", "call", "at"} <= line.keys() else None
