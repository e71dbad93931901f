"""Significance of damage: changes of the screen that play at normal speed.

A caret, a spinner or a clock paints for ever without any information. Such damage is small and
returns to the same region without input. The recorder encodes it, but it does not end an idle
period. All other damage does, and so does input, which this module does not judge.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from deskhand.recording.ports import CapturedFrame, Rectangle

# A caret is a thin vertical bar; damage of this shape is one wherever it appears.
CARET_WIDTH = 3
CARET_HEIGHT = 64
SPECK = 64
"""Largest area in pixels that is ignored anywhere, such as a blinking status light."""

SMALL = 64 * 64
"""Largest area of a periodic change; a clock of 100 x 30 is below it, a paragraph is above."""

REPEATS = 2
"""Changes of a region without input after which further changes there are ignored."""

AFTER_INPUT = 1.0
"""Seconds after input in which a change counts as its effect and not as a periodic change."""

REMEMBERED = 150.0
"""Seconds after which a region without changes is forgotten; a clock that shows minutes paints
every 60 s, and one of its paints may be missed."""

MAX_HABITS = 128
"""Limit, as the lookup is linear; the region that changed longest ago is replaced beyond it."""


MAX_REPORTS = 1024
"""Limit of the reports without a frame: a minute of them."""


@dataclass
class _Habit:
    region: Rectangle
    seen: float
    repeats: int = 0


class SignificanceFilter:
    """Learns the regions of the screen that change periodically. Times are seconds."""

    def __init__(self) -> None:
        self._habits: list[_Habit] = []
        self._input = float("-inf")
        self._reported: deque[tuple[float, bool]] = deque(maxlen=MAX_REPORTS)

    def input(self, now: float) -> None:
        """Record input at ``now``."""
        self._input = max(self._input, now)

    def significant(self, regions: Iterable[Rectangle], now: float) -> bool:
        """Return True if any of the damaged regions is significant; learn from all of them."""
        self._habits = [habit for habit in self._habits if now - habit.seen <= REMEMBERED]
        # A list, not any(): the filter must learn also from the regions after the first hit.
        judged = [self._is_significant(region, now) for region in regions]
        return True in judged

    def reported(self, regions: Iterable[Rectangle], at: float) -> bool:
        """Judge a report of damage like ``significant``; remember it for ``of_frame``."""
        significant = self.significant(regions, at)
        self._reported.append((at, significant))
        return significant

    def of_frame(self, frame: CapturedFrame) -> bool:
        """Return True if a frame shows a moved pointer or a significant change.

        The reports before its capture decide, and its own regions if there were none.
        """
        judged = []
        # Later reports belong to the next frame.
        while self._reported and self._reported[0][0] <= frame.time:
            judged.append(self._reported.popleft()[1])
        # A placeholder and the first frame of a feed have regions that were not reported.
        if not judged or frame.changed is None:
            judged.append(self.significant(frame.regions, frame.time))
        return not frame.regions or True in judged

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
        # Half in common is enough: the box of a spinner varies by some pixels from turn to turn.
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
