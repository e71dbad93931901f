"""Keyboard map of a display, and temporary bindings of spare keycodes to foreign keysyms."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

SHIFT = 0xFFE1
CAPS_LOCK = 0xFFE5
LEVEL3_SHIFT = 0xFE03
_XF86 = range(0x1008_0000, 0x1009_0000)
_KEYPAD = range(0xFF80, 0xFFBE)

# Chromium handles these keycodes whatever keysym they have: back, reload, home, play, stop ...
_ACTED_ON = frozenset((141, 143, 145, 164, 166, 167, 180, 181, 225))

# A busy client translates a keycode long after the event, with the keyboard map of that moment.
SETTLING_SECONDS = 0.3

# Columns of the four levels of group 1 in the core keyboard mapping (XKB protocol, chapter 12).
_LEVEL_COLUMNS = (0, 1, 4, 5)


class KeyBinding(NamedTuple):
    """A keycode and the shift level of a keysym on it: Shift is bit 0, AltGr bit 1."""

    code: int
    level: int

    @property
    def shift(self) -> bool:
        """True if Shift must be down."""
        return bool(self.level & 1)

    @property
    def level3(self) -> bool:
        """True if the level-3 key (AltGr) must be down."""
        return bool(self.level & 2)


class Keymap:
    """Keysyms of the keycodes of a keyboard (GetKeyboardMapping).

    ``keysyms`` has ``width`` entries for each keycode from ``first`` on; ``modifiers`` are the
    keycodes in the server's modifier map.
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
                # Num Lock selects the second keysym of a keypad key; few layouts do so by Shift.
                if level and keysym in _KEYPAD:
                    continue
                known = self._keys.get(keysym)
                if keysym and (known is None or level < known.level):
                    self._keys[keysym] = KeyBinding(code, level)
        self._letters = {
            keysym for row in self._rows.values() if _is_letter(row) for keysym in row[:2]
        }

    def find(self, keysym: int) -> KeyBinding | None:
        """Return the key that gives a keysym with the fewest modifiers; None if none does."""
        key = self._keys.get(keysym)
        # A level behind AltGr cannot be reached on a keyboard without that key.
        if key is not None and key.level3 and self._keys.get(LEVEL3_SHIFT) is None:
            return None
        return key

    def carries(self, code: int, keysym: int) -> bool:
        """Return True if the key has that keysym on all levels."""
        row = self._rows.get(code, (0,))
        return row[0] == keysym and set(row) <= {keysym, 0}

    def inverts_with_lock(self, keysym: int) -> bool:
        """Return True if Caps Lock turns the keysym into the letter's other case."""
        return keysym in self._letters

    def spare(self) -> tuple[int, ...]:
        """Return keycodes with XF86 keysyms only, which no text contains and no program handles.

        Empty keycodes are excluded: Xvnc binds the foreign keysyms of its viewers to them.
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
    """Raised for more foreign keysyms at a time than there are spare keycodes."""


@dataclass
class _Use:
    keysym: int
    last: float


class Bindings:
    """Foreign keysyms on spare keycodes; the least recently used binding is replaced first.

    Times are seconds on one monotonic clock.
    """

    def __init__(self) -> None:
        self._free: list[int] = []
        self._uses: dict[int, _Use] = {}
        self._codes: dict[int, int] = {}

    @property
    def capacity(self) -> int:
        """Number of keysyms that can be bound at a time."""
        return len(self._free) + len(self._uses)

    @property
    def codes(self) -> frozenset[int]:
        """Keycodes that are bound now."""
        return frozenset(self._uses)

    def find(self, keysym: int) -> int | None:
        """Return the keycode that is bound to a keysym; None if none is."""
        return self._codes.get(keysym)

    def adopt(self, keymap: Keymap) -> None:
        """Drop bindings that a freshly read keymap does not have, and update the spare keycodes."""
        self._uses = {
            code: use for code, use in self._uses.items() if keymap.carries(code, use.keysym)
        }
        self._free = [code for code in keymap.spare() if code not in self._uses]
        self._index()

    def bind(
        self, keysyms: Iterable[int], now: float, pinned: Collection[int] = ()
    ) -> tuple[dict[int, int], float]:
        """Bind keysyms; return the keycodes to change, and the time from which that is safe.

        ``pinned`` keycodes are held down and stay as they are.

        Raises:
            NoRoom: If not all fit; no binding changes then.
        """
        wanted = dict.fromkeys(keysyms)
        keep = {code for code, use in self._uses.items() if use.keysym in wanted} | set(pinned)
        missing = [keysym for keysym in wanted if self.find(keysym) is None]
        by_age = sorted(self._uses.items(), key=lambda item: item[1].last)
        old = [code for code, _ in by_age if code not in keep]
        # Free keycodes come first: a client may still translate events that used the others.
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
        """Record the time at which keysyms were typed."""
        wanted = set(keysyms)
        for use in self._uses.values():
            if use.keysym in wanted:
                use.last = now

    def _index(self) -> None:
        self._codes = {use.keysym: code for code, use in self._uses.items()}


def runs(changes: Mapping[int, int]) -> list[tuple[int, list[int]]]:
    """Group adjacent keycodes: return the first of each run and the keysyms of the run.

    Every client reloads its keyboard map after each ChangeKeyboardMapping request, so a run takes
    one request.
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
    # Keysyms beyond Latin-1 are not code points; for such keys the server applies Caps Lock.
    if len(row) < 2 or not all(keysym < 256 for keysym in row[:2]):
        return False
    lower, upper = map(chr, row[:2])
    return lower != upper and lower.upper() == upper
