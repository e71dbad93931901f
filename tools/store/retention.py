"""Which stored files go, and when. Times are seconds since 1970, sizes bytes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class RetentionLimits:
    """How much is kept."""

    archived_days: float = 30.0
    """A chat that was put away, with its files."""
    recording_days: float = 90.0
    recording_bytes: int = 20_000_000_000
    """All recordings together."""
    free_share: float = 0.1
    """Of the disk that recordings leave free."""
    untouched_days: float = 1.0
    """So long a recording stays even where room is short: nobody has seen it yet."""
    attachments: int = 20
    """Listed with one chat."""
    step_bytes: int = 300_000_000
    """Pictures of the steps of one chat."""


@dataclass(frozen=True)
class Kept:
    """A stored file, as far as it matters here."""

    id: str
    kind: str
    size: int
    created_at: float
    chat_id: str | None
    """The chat that lists it, or whose step it shows."""
    pinned: bool = False


@dataclass(frozen=True)
class Room:
    """What a disk has."""

    free: int
    whole: int


def expired(files: Iterable[Kept], now: float, room: Room, limits: RetentionLimits) -> list[Kept]:
    """The files to remove, oldest first; a pinned one stays whatever happens."""
    ordered = sorted(files, key=lambda kept: (kept.created_at, kept.id))
    by_kind = {
        kinds: [kept for kept in ordered if kept.kind in kinds]
        for kinds in (("recording", "thumbnail"), ("attachment",), ("step",))
    }
    gone = [
        *_recordings(by_kind["recording", "thumbnail"], now, room, limits),
        *crowded_out(by_kind["attachment",], limits.attachments),
        *_steps(by_kind["step",], limits.step_bytes),
    ]
    return sorted(gone, key=lambda kept: (kept.created_at, kept.id))


def crowded_out(attachments: Sequence[Kept], most: int) -> list[Kept]:
    """The oldest attachments of each chat that has more than ``most``; given oldest first."""
    counts = Counter(kept.chat_id for kept in attachments)
    gone = []
    for kept in attachments:
        if counts[kept.chat_id] > most and not kept.pinned:
            counts[kept.chat_id] -= 1
            gone.append(kept)
    return gone


def _recordings(files: list[Kept], now: float, room: Room, limits: RetentionLimits) -> list[Kept]:
    excess = sum(kept.size for kept in files) - limits.recording_bytes
    excess = max(excess, int(limits.free_share * room.whole) - room.free)
    gone = []
    for kept in files:
        days = (now - kept.created_at) / DAY
        too_much = excess > 0 and days > limits.untouched_days
        if (days > limits.recording_days or too_much) and not kept.pinned:
            excess -= kept.size
            gone.append(kept)
    return gone


def _steps(pictures: list[Kept], most: int) -> list[Kept]:
    """Every second picture of a chat that has too many, and again, until they fit."""
    gone: list[Kept] = []
    for chat_id in {kept.chat_id for kept in pictures}:
        left = [kept for kept in pictures if kept.chat_id == chat_id and not kept.pinned]
        while len(left) > 1 and sum(kept.size for kept in left) > most:
            gone += left[1::2]
            left = left[::2]
    return gone
