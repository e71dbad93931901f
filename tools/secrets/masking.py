"""Masks of known values in texts, and the chats that probe them. Pure.

A program that prints many candidates finds a short value by its mask. So the results of a chat are
masked only for values that were given to the chat or to its ancestors, and a value that is masked
often within a minute is reported.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.desktop.secrets.redaction import MASK

OFTEN = 20
"""Masks of one value in a chat, within `PERIOD`, of which a person is notified."""
PERIOD = 60.0
"""Seconds."""


@dataclass(frozen=True)
class Masked:
    """A text without the values, and how often each secret occurred in it, by name."""

    text: str
    found: Mapping[str, int] = field(default_factory=dict)


class ValueMask:
    """Masks some secrets in texts; ``values`` has the texts to mask of each by its name."""

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._names = {text: name for name, texts in values.items() for text in texts}
        # The first alternative that matches counts, and a value may begin with another one.
        ordered = sorted(self._names, key=lambda value: (-len(value), value))
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def __call__(self, text: str) -> Masked:
        """Return the text with a mask in place of each value."""
        if self._pattern is None:
            return Masked(text)
        found: Counter[str] = Counter()

        def masked(match: re.Match[str]) -> str:
            found[self._names[match[0]]] += 1
            return MASK

        return Masked(self._pattern.sub(masked, text), found)


def masked_json(value: Any, mask: Callable[[str], str]) -> Any:
    """Return a JSON value with ``mask`` applied to all of its strings, keys included."""
    match value:
        case str():
            return mask(value)
        case list() | tuple():
            return [masked_json(one, mask) for one in value]
        case dict():
            return {mask(key): masked_json(one, mask) for key, one in value.items()}
        case _:
            return value


@dataclass
class _Masks:
    recent: deque[tuple[float, int]] = field(default_factory=deque)
    reported: bool = False


class ProbeDetector:
    """Counts the masks of each secret in each chat, and reports a chat that probes one, once."""

    def __init__(self, often: int = OFTEN, period: float = PERIOD) -> None:
        self._often, self._period = often, period
        self._masks: dict[tuple[str, str], _Masks] = {}

    def masked(self, chat_id: str, found: Mapping[str, int], now: float) -> Sequence[str]:
        """Record masks in a result of a chat; return the secrets to notify a person of.

        ``now`` is in seconds on any clock that only grows.
        """
        return [name for name, count in found.items() if self._is_due(chat_id, name, count, now)]

    def forget(self, chat_id: str) -> None:
        """Forget a chat that was deleted."""
        for key in [one for one in self._masks if one[0] == chat_id]:
            del self._masks[key]

    def _is_due(self, chat_id: str, name: str, count: int, now: float) -> bool:
        masks = self._masks.setdefault((chat_id, name), _Masks())
        if masks.reported:
            return False
        masks.recent.append((now, count))
        while masks.recent[0][0] <= now - self._period:
            masks.recent.popleft()
        masks.reported = sum(count for _, count in masks.recent) >= self._often
        if masks.reported:
            masks.recent.clear()
        return masks.reported
