"""Counts of the tool calls that have ended since the start of the program."""

from collections import Counter
from collections.abc import Iterable


class ToolCallCounts:
    """Counts by tool and status."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, tool: str, status: str, *, known: bool = True) -> None:
        """Count one call; all calls of tools that are not ``known`` have one name."""
        # A model may invent any number of names, and each would be a series of its own.
        self._counts[tool if known else "unknown", status] += 1

    def items(self) -> Iterable[tuple[tuple[str, str], int]]:
        """Return tool and status, with the number of their calls."""
        return self._counts.items()
