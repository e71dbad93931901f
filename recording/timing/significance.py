"""Which changes of the screen are worth seeing at normal speed.

A caret, a spinner or a clock paints for ever without telling anything. Such damage is small and
comes back to the same place on its own accord. It is drawn, but it does not end an idle stretch.
Anything else does, and so does input, which is not judged here.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from deskhand.recording.ports import Rectangle

CARET_WIDTH = 3
CARET_HEIGHT = 64
SPECK = 64
"""Area in pixels that nobody notices as a change, such as a blinking light."""

SMALL = 64 * 64
"""Largest area that may be a toggling thing; a clock of 100 x 30 is one, a paragraph is not."""

REPEATS = 2
"""So often a place must have changed by itself before further changes there are ignored."""

AFTER_INPUT = 1.0
"""Changes within this time after input are its effect, so they say nothing about habits."""

REMEMBERED = 150.0
"""A clock that shows minutes paints every 60 s."""

MAX_HABITS = 128


@dataclass
class _Habit:
    region: Rectangle
    seen: float
    repeats: int = 0


class SignificanceFilter:
    """Learns which places of the screen change by habit. Times are seconds."""

    def __init__(self) -> None:
        self._habits: list[_Habit] = []
        self._input = float("-inf")

    def input(self, now: float) -> None:
        """Somebody acted at ``now``."""
        self._input = max(self._input, now)

    def significant(self, regions: Iterable[Rectangle], now: float) -> bool:
        """Whether any of the painted regions is worth seeing; learns from all of them."""
        self._habits = [habit for habit in self._habits if now - habit.seen <= REMEMBERED]
        judged = [self._is_significant(region, now) for region in regions]
        return True in judged

    def _is_significant(self, region: Rectangle, now: float) -> bool:
        if _unnoticeable(region):
            return False
        if _area(region) > SMALL:
            return True
        habit = self._habit_of(region, now)
        known = habit.repeats >= REPEATS
        habit.seen = now
        if now - self._input > AFTER_INPUT:
            habit.repeats += 1
        return not known

    def _habit_of(self, region: Rectangle, now: float) -> _Habit:
        for habit in self._habits:
            if 2 * _area(_common(habit.region, region)) >= _area(_hull(habit.region, region)):
                return habit
        if len(self._habits) == MAX_HABITS:
            self._habits.remove(min(self._habits, key=lambda habit: habit.seen))
        habit = _Habit(region, now)
        self._habits.append(habit)
        return habit


def _unnoticeable(region: Rectangle) -> bool:
    width, height = region[2] - region[0], region[3] - region[1]
    return (width <= CARET_WIDTH and height <= CARET_HEIGHT) or width * height <= SPECK


def _area(region: Rectangle) -> int:
    return max(0, region[2] - region[0]) * max(0, region[3] - region[1])


def _common(a: Rectangle, b: Rectangle) -> Rectangle:
    return max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])


def _hull(a: Rectangle, b: Rectangle) -> Rectangle:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])
