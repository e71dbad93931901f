"""Decision which pictures of steps become a pack, and when. Pure.

- Pictures of one chat are packed together, as they are deleted together.
- They are held until the turn ends.
- Of a turn that lasts, pictures are packed before its end: other control planes have none of those
  that are held, and a lost disk takes them with it. Two packs are made early, the first one soon;
  with the one at the end they are three, however many steps the turn has. A turn without an end
  makes one more in an hour, or for each 512 MiB.

Times are seconds since 1970, sizes bytes.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

MOST_BYTES = 512 << 20
"""Largest pack. It is above what retention keeps of one chat, and one request uploads it."""

MOST_PICTURES = 10_000
"""Most pictures of a pack, for the sake of its index."""


@dataclass(frozen=True)
class HeldPicture:
    """A picture that is on this disk alone."""

    id: str
    chat_id: str
    """The chat whose step it shows; empty if that is not known any more."""
    size: int
    created_at: float


@dataclass(frozen=True)
class HoldLimits:
    """Limits up to which pictures of a turn at work are held."""

    seconds: float
    """Age of the oldest of them."""
    size: int
    """Bytes of all of them."""


EARLY = (HoldLimits(60.0, 32 << 20), HoldLimits(600.0, 128 << 20))
"""Limits before the first and before the second pack of a turn."""

LATER = HoldLimits(3600.0, MOST_BYTES)
"""Limits before each further pack."""


class Holding:
    """The number of packs that turns at work have, and what follows from it."""

    def __init__(self, early: Sequence[HoldLimits] = EARLY, later: HoldLimits = LATER) -> None:
        self._early = early
        self._later = later
        self._made: dict[str, tuple[int, int]] = {}
        """Turn of a chat, and number of its packs."""

    def due(
        self, held: Iterable[HeldPicture], running: Mapping[str, int], now: float
    ) -> list[tuple[HeldPicture, ...]]:
        """Return the packs to make now.

        ``running`` has the numbers of the turns at work, by chat.
        """
        self._made = {chat: made for chat, made in self._made.items() if chat in running}
        by_chat: defaultdict[str, list[HeldPicture]] = defaultdict(list)
        for picture in held:
            by_chat[picture.chat_id].append(picture)
        found: list[tuple[HeldPicture, ...]] = []
        for chat, pictures in sorted(by_chat.items()):
            pictures.sort(key=lambda picture: (picture.created_at, picture.id))
            if chat not in running or self._is_enough(chat, running[chat], pictures, now):
                found += _divided(pictures)
        return found

    def uncounted(self, running: Mapping[str, int]) -> set[str]:
        """Return the chats at work with a turn whose packs were not counted yet."""
        known = {chat for chat, (turn, _) in self._made.items() if running.get(chat) == turn}
        return running.keys() - known

    def count(self, made: Mapping[str, int], running: Mapping[str, int]) -> None:
        """Set the numbers of packs that other control planes have made of turns at work."""
        self._made |= {chat: (running[chat], number) for chat, number in made.items()}

    def made(self, chat: str, running: Mapping[str, int]) -> None:
        """Count a pack of the turn at work, if one is."""
        if chat in running:
            self._made[chat] = (running[chat], self._number(chat, running[chat]) + 1)

    def _number(self, chat: str, turn: int) -> int:
        counted_turn, count = self._made.get(chat, (turn, 0))
        return count if counted_turn == turn else 0

    def _is_enough(self, chat: str, turn: int, pictures: list[HeldPicture], now: float) -> bool:
        count = self._number(chat, turn)
        limits = self._early[count] if count < len(self._early) else self._later
        age = now - pictures[0].created_at
        return age >= limits.seconds or sum(one.size for one in pictures) >= limits.size


def _divided(pictures: Sequence[HeldPicture]) -> Iterator[tuple[HeldPicture, ...]]:
    """Yield the pictures in packs of which none is too large."""
    pack: list[HeldPicture] = []
    size = 0
    for picture in pictures:
        if pack and (size + picture.size > MOST_BYTES or len(pack) == MOST_PICTURES):
            yield tuple(pack)
            pack, size = [], 0
        pack.append(picture)
        size += picture.size
    yield tuple(pack)
