"""Which tool calls were begun here and what they were answered, so that none is done twice."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import CallRefused

Json = dict[str, Any]
Answer = tuple[int, Json]
"""HTTP status and body, without pictures."""
Key = tuple[str, str]
"""Chat and tool-call id: another chat's id of the same text is another call."""

KEPT_SECONDS = 3600.0
KEPT_COUNT = 1000

_BEGAN, _ENDED = "began", "ended"
# It only spares the sending of a picture: a retry may name another frame, and is still the same.
_HINT = "since"


@dataclass(frozen=True)
class JournaledCall:
    """A tool call, and what it asks for."""

    key: Key
    digest: str
    """Tells inputs apart without keeping them."""


@dataclass(frozen=True)
class _Entry:
    digest: str
    at: float
    answer: Answer | None
    """``None`` until it is known how the call went."""


class ActionJournal:
    """The newest calls. Times are seconds since the epoch: they outlive the process."""

    def __init__(self) -> None:
        self._entries: dict[Key, _Entry] = {}

    def earlier(self, call: JournaledCall, now: float) -> Answer | None:
        """What the call was answered before; ``None`` if it was never begun.

        Raises:
            CallRefused: If its id was used for another input, or nobody knows how it went.
        """
        entry = self._entries.get(call.key)
        if entry is None or now - entry.at > KEPT_SECONDS:
            return None
        if entry.digest != call.digest:
            raise CallRefused.mismatch()
        if entry.answer is None:
            raise CallRefused.unknown("It was begun, and broke off before its answer.")
        return entry.answer

    def answered(self, key: Key) -> bool:
        """Whether it is known how a call went."""
        entry = self._entries.get(key)
        return entry is not None and entry.answer is not None

    def began(self, call: JournaledCall, now: float) -> str:
        """Note that a call is about to be done; return the line that says so."""
        self._entries.pop(call.key, None)
        self._entries[call.key] = _Entry(call.digest, now, None)
        self._shrink(now)
        return _line(_BEGAN, call.key, call.digest, now)

    def ended(self, call: JournaledCall, answer: Answer, now: float) -> str:
        """Note the answer of a call; return the line that says so."""
        status, body = answer
        kept = (status, without_pictures(body))
        self._entries[call.key] = _Entry(call.digest, now, kept)
        return _line(_ENDED, call.key, call.digest, now, *kept)

    def lines(self) -> Iterator[str]:
        """All that is known, as lines for :func:`restored`."""
        for key, entry in self._entries.items():
            if entry.answer is None:
                yield _line(_BEGAN, key, entry.digest, entry.at)
            else:
                yield _line(_ENDED, key, entry.digest, entry.at, *entry.answer)

    def _shrink(self, now: float) -> None:
        # In the order in which they were begun: the oldest stands in front, the newest stays.
        oldest = next(iter(self._entries))
        while len(self._entries) > KEPT_COUNT or now - self._entries[oldest].at > KEPT_SECONDS:
            del self._entries[oldest]
            oldest = next(iter(self._entries))


def restored(lines: Iterable[str], now: float) -> ActionJournal:
    """Return the journal that wrote the lines; a line that was cut off is passed over."""
    journal = ActionJournal()
    for line in lines:
        try:
            kind, chat, name, digest, at, *answer = json.loads(line)
        except ValueError:
            continue
        call = JournaledCall((chat, name), digest)
        if now - at > KEPT_SECONDS:
            continue
        if kind == _BEGAN:
            journal.began(call, at)
        else:
            journal.ended(call, (answer[0], answer[1]), at)
    return journal


def digest(route: str, body: Json) -> str:
    """Tell inputs apart: equal for the same request, however its fields are ordered."""
    observe = body.get("observe")
    wanted = {**_unhinted(body), "observe": _unhinted(observe)}
    text = json.dumps([route, wanted], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def without_pictures(body: Json) -> Json:
    """The body of an answer, but for the bytes of its pictures."""
    kept = {name: value for name, value in body.items() if name != "screenshot_data"}
    if "results" in kept:
        kept["results"] = [without_pictures(result) for result in kept["results"]]
    return kept


def _unhinted(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: inner for name, inner in value.items() if name != _HINT}


def _line(kind: str, key: Key, *rest: Any) -> str:
    return json.dumps([kind, *key, *rest])
