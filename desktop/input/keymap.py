"""Which key gives which symbol on a display's keyboard, and which keys may carry a foreign one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

SHIFT = 0xFFE1
CAPS_LOCK = 0xFFE5
LEVEL3_SHIFT = 0xFE03
_XF86 = range(0x1008_0000, 0x1009_0000)
_KEYPAD = range(0xFF80, 0xFFBE)

# Chromium acts on these whatever symbol they carry: back, reload, home, play, stop ...
_ACTED_ON = frozenset((141, 143, 145, 164, 166, 167, 180, 181, 225))

# A client that is busy looks a key up long after it was pressed, in the map of that moment.
SETTLING_SECONDS = 0.3

# Where the core protocol puts the four levels of the first group.
_LEVEL_COLUMNS = (0, 1, 4, 5)


class KeyBinding(NamedTuple):
    """A keycode, and the level on which it carries the symbol: Shift is bit 0, AltGr bit 1."""

    code: int
    level: int

    @property
    def shift(self) -> bool:
        """Whether Shift must be down."""
        return bool(self.level & 1)

    @property
    def level3(self) -> bool:
        """Whether the level-3 key (AltGr) must be down."""
        return bool(self.level & 2)


class Keymap:
    """The symbols on the keys of a keyboard, as the core protocol lists them.

    ``keysyms`` are ``width`` for each keycode from ``first`` on; ``modifiers`` are the codes in
    the server's modifier map.
    """

    def __init__(
        self, first: int, width: int, keysyms: Sequence[int], modifiers: Collection[int] = ()
    ) -> None:
        self.width = width
        self._rows: Mapping[int, tuple[int, ...]] = {
            first + index: tuple(keysyms[index * width : (index + 1) * width])
            for index in range(len(keysyms) // width)
        }
        self._modifiers = frozenset(modifiers)
        self._keys: dict[int, KeyBinding] = {}
        for code, row in self._rows.items():
            for level, keysym in enumerate(_levels(row)):
                # The second symbols of a keypad are Num Lock's; Shift gives them on few keyboards.
                if level and keysym in _KEYPAD:
                    continue
                known = self._keys.get(keysym)
                if keysym and (known is None or level < known.level):
                    self._keys[keysym] = KeyBinding(code, level)
        self._letters = {
            keysym for row in self._rows.values() if _is_letter(row) for keysym in row[:2]
        }

    def find(self, keysym: int) -> KeyBinding | None:
        """The key with the fewest modifiers that gives the symbol, if there is one."""
        key = self._keys.get(keysym)
        if key is not None and key.level3 and self._keys.get(LEVEL3_SHIFT) is None:
            return None
        return key

    def carries(self, code: int, keysym: int) -> bool:
        """Whether the key gives that symbol whatever else is down."""
        row = self._rows.get(code, (0,))
        return row[0] == keysym and set(row) <= {keysym, 0}

    def inverts_with_lock(self, keysym: int) -> bool:
        """Whether Caps Lock exchanges the symbol for the other case of the letter."""
        return keysym in self._letters

    def spare(self) -> tuple[int, ...]:
        """Keys with nothing but media symbols, which nobody types and no program listens to.

        The empty keys are not among them: Xvnc puts the foreign letters of its viewers there.
        """
        return tuple(
            code
            for code, row in self._rows.items()
            if any(row)
            and all(keysym in _XF86 for keysym in row if keysym)
            and code not in _ACTED_ON
            and code not in self._modifiers
        )


class NoRoom(Exception):
    """More symbols at a time than there are spare keys."""


@dataclass
class _Use:
    keysym: int
    last: float


class Bindings:
    """Which spare key carries which foreign symbol; the longest unused is given away first.

    Times are seconds on one monotonic clock.
    """

    def __init__(self) -> None:
        self._free: list[int] = []
        self._uses: dict[int, _Use] = {}
        self._codes: dict[int, int] = {}

    @property
    def capacity(self) -> int:
        """How many symbols fit at a time."""
        return len(self._free) + len(self._uses)

    @property
    def codes(self) -> frozenset[int]:
        """The keys that carry a symbol now."""
        return frozenset(self._uses)

    def find(self, keysym: int) -> int | None:
        """The key that carries the symbol."""
        return self._codes.get(keysym)

    def adopt(self, keymap: Keymap) -> None:
        """Keep what a freshly read keymap still shows, and learn which other keys are spare."""
        self._uses = {
            code: use for code, use in self._uses.items() if keymap.carries(code, use.keysym)
        }
        self._free = [code for code in keymap.spare() if code not in self._uses]
        self._index()

    def bind(
        self, keysyms: Iterable[int], now: float, pinned: Collection[int] = ()
    ) -> tuple[dict[int, int], float]:
        """Find keys for symbols: the codes to change, and when they may be changed.

        ``pinned`` codes are held down and stay as they are.

        Raises:
            NoRoom: Nothing is changed then.
        """
        wanted = dict.fromkeys(keysyms)
        keep = {code for code, use in self._uses.items() if use.keysym in wanted} | set(pinned)
        missing = [keysym for keysym in wanted if self.find(keysym) is None]
        by_age = sorted(self._uses.items(), key=lambda item: item[1].last)
        old = [code for code, _ in by_age if code not in keep]
        codes = [*self._free, *old][: len(missing)]
        if len(codes) < len(missing):
            raise NoRoom(len(missing))
        ready = max(
            (self._uses[code].last + SETTLING_SECONDS for code in codes if code in self._uses),
            default=now,
        )
        changes = dict(zip(codes, missing, strict=True))
        self._free = [code for code in self._free if code not in changes]
        for code, keysym in changes.items():
            self._uses[code] = _Use(keysym, now)
        self._index()
        return changes, max(now, ready)

    def used(self, keysyms: Iterable[int], now: float) -> None:
        """Note that the symbols were typed just now."""
        wanted = set(keysyms)
        for use in self._uses.values():
            if use.keysym in wanted:
                use.last = now

    def _index(self) -> None:
        self._codes = {use.keysym: code for code, use in self._uses.items()}


def runs(changes: Mapping[int, int]) -> list[tuple[int, list[int]]]:
    """Put neighbouring codes together: the first of each run, and the symbols of its codes.

    Every program on the display reads its map anew after each request that changes some.
    """
    found: list[tuple[int, list[int]]] = []
    for code, keysym in sorted(changes.items()):
        if found and found[-1][0] + len(found[-1][1]) == code:
            found[-1][1].append(keysym)
        else:
            found.append((code, [keysym]))
    return found


def _levels(row: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(row[column] for column in _LEVEL_COLUMNS if column < len(row))


def _is_letter(row: tuple[int, ...]) -> bool:
    # Beyond Latin-1, keysyms are no characters; on such keys Lock is left to the server.
    if len(row) < 2 or not all(keysym < 256 for keysym in row[:2]):
        return False
    lower, upper = map(chr, row[:2])
    return lower != upper and lower.upper() == upper
