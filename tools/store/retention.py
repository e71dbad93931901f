"""Retention of stored files: selects the files to remove. Pure.

Times are seconds since 1970, sizes bytes. Three rules, none of which removes a pinned file:

- Recordings, their thumbnails and the pictures made of them: those older than a limit, then the
  oldest until the rest fits both a total size and a share of the disk that must stay free. A
  recording is kept for a day in any case, as no person may have seen it yet.
- Attachments: the oldest of a chat that lists too many.
- Pictures of steps: every second one of a chat that has too many, and again, until they fit. A run
  then still shows its whole course, with fewer pictures. Those stay that the next request to the
  chat's model contains: some models refuse a history that has changed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

DAY = 86_400.0

HISTORY_PICTURES = 600
"""Newest pictures of a chat's messages that are never removed. No provider accepts more in one
request, and their total size is limited there to a fraction of ``RetentionLimits.step_bytes``."""


@dataclass(frozen=True, kw_only=True)
class RetentionLimits:
    """Limits on the age, the size and the number of stored files."""

    archived_days: float = 30.0
    """Age at which an archived chat is deleted with its files."""
    recording_days: float = 90.0
    recording_bytes: int = 20_000_000_000
    """Total size of all recordings."""
    free_share: float = 0.1
    """Share of the disk that recordings must leave free."""
    untouched_days: float = 1.0
    """Age up to which a recording stays even if the disk is full."""
    attachments: int = 20
    """Number of attachments listed with one chat."""
    step_bytes: int = 300_000_000
    """Total size of the pictures of one chat's steps."""


@dataclass(frozen=True)
class Kept:
    """A stored file with the properties that retention depends on."""

    id: str
    kind: str
    size: int
    created_at: float
    chat_id: str | None
    """The chat that lists the file, or whose step it shows."""
    pinned: bool = False
    in_history: bool = False
    """True if the next request to the chat's model may contain the picture."""
    waits: bool = False
    """True if the bucket does not have the bytes yet."""


@dataclass(frozen=True)
class Room:
    """Free and total bytes of a disk."""

    free: int
    whole: int


def expired(files: Iterable[Kept], now: float, room: Room, limits: RetentionLimits) -> list[Kept]:
    """Return the files to remove, oldest first; never a pinned one."""
    ordered = sorted(files, key=lambda kept: (kept.created_at, kept.id))
    by_kind = {
        kinds: [kept for kept in ordered if kept.kind in kinds]
        for kinds in (("recording", "thumbnail", "picture"), ("attachment",), ("step",))
    }
    gone = [
        *_recordings(by_kind["recording", "thumbnail", "picture"], now, room, limits),
        *crowded_out(by_kind["attachment",], limits.attachments),
        *_steps(by_kind["step",], limits.step_bytes),
    ]
    return sorted(gone, key=lambda kept: (kept.created_at, kept.id))


def crowded_out(attachments: Sequence[Kept], most: int) -> list[Kept]:
    """Return the oldest attachments of each chat that has more than ``most``.

    ``attachments`` must be sorted, the oldest first.
    """
    counts = Counter(kept.chat_id for kept in attachments)
    gone = []
    for kept in attachments:
        if counts[kept.chat_id] > most and not kept.pinned:
            counts[kept.chat_id] -= 1
            gone.append(kept)
    return gone


def _recordings(files: list[Kept], now: float, room: Room, limits: RetentionLimits) -> list[Kept]:
    # Pinned files count as well, because they take room.
    excess = sum(kept.size for kept in files) - limits.recording_bytes
    # Each removal serves both limits, so that the larger excess decides.
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
    """Return the pictures to remove so that those of each chat fit into ``most`` bytes."""
    gone: list[Kept] = []
    for chat_id in {kept.chat_id for kept in pictures}:
        counted = [kept for kept in pictures if kept.chat_id == chat_id and not kept.pinned]
        left = [kept for kept in counted if not kept.in_history]
        needed = sum(kept.size for kept in counted if kept.in_history)
        # One picture stays in any case: the first one, as ``[::2]`` keeps it.
        while len(left) > 1 and needed + sum(kept.size for kept in left) > most:
            gone += left[1::2]
            left = left[::2]
    return gone
