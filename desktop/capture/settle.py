"""Settling: the moment at which the screen rests after an action.

The wait begins with the action (``started``) and ends with one of three verdicts:

    no_change   nothing was painted for ``grace`` seconds
    quiet       the last paint is ``quiet`` seconds ago, or ``small_quiet`` while little was
                painted, and longer where paints come far apart
    ceiling     the screen was still painted ``longest`` seconds after the action

Events: ``painted`` (damage) and the passing of time, which the caller passes to ``verdict``. The
caller asks again after each damage event, or after ``remaining`` seconds without one.

Not all damage counts. *Restless* regions were painted twice or more in the second before the action
(a caret, a spinner, a clock), or in an earlier wait until its ceiling; ``rule.ignore`` is set by
the caller. Two kinds of damage count only as announcements, after which the effect of the action
still has ``grace`` to begin: the pressed button itself, and panels (``margins``), for example a
taskbar that shows the title of a window before its first paint, which has twice that time.

Invariants: the wait never exceeds ``longest``; without further paints the verdict is reached after
``remaining`` seconds; damage that is reported late never moves the last paint back.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from deskhand.desktop.geometry import Point, Region

from .frames import Damage

Verdict = Literal["quiet", "ceiling", "no_change"]

# The required silence is this many times the longest pause between two paints: on a busy machine a
# program paints the steps of one change far apart.
_RHYTHM = 2.0
_LONGEST_QUIET = 3.0
"""Upper limit of the required silence, in multiples of the rule's quiet time."""

_SMALL_PAINT = 640 * 48
"""Pixels of all paint that make a small change: a key in a line of text, a caret, a tooltip."""
# A panel shows a new title before the window itself is painted. The window may take this many times
# the grace time of a first paint.
_ANNOUNCED = 2.0
# A button shows at once that it was pressed; its effect comes later. Largest area in pixels.
_LARGEST_BUTTON = 640 * 120

# Carets, spinners and clocks are smaller. A larger region may be a page that is still being built.
_LARGEST_MOVING = 400 * 400
_A_MOMENT = 1.0
"""Seconds before the end of the wait in which repeated paints make a region restless."""

# Damage events and regions that are compared: the cost is quadratic in their number.
_CONSIDERED = 64


@dataclass(frozen=True)
class SettleRule:
    """Parameters of settling. All times in seconds."""

    quiet: float = 0.1
    """Shortest silence that counts as rest; more is required where paints come far apart."""
    small_quiet: float = 0.05
    """The same after a small change. `bench.settle_rules` compares it with other times."""
    longest: float = 3.0
    """Longest wait."""
    grace: float = 0.25
    """Time in which the first paint must come; otherwise the action changed nothing."""
    ignore: tuple[Region, ...] = ()
    """Regions whose damage does not count."""


@dataclass
class Settle:
    """State of one wait after an action.

    Regions that were repainted twice or more just before the action (a blinking caret, a
    spinner) do not count. Times are seconds on one monotonic clock, passed by the caller.
    """

    rule: SettleRule
    started: float
    recent: Sequence[Damage] = ()
    """Damage of the second before the action."""
    moving: Sequence[Region] = ()
    """Regions that earlier waits found to be repainted all the time."""
    margins: Sequence[Region] = ()
    """Panels: damage there announces a change that is still to come."""
    clicked: Point | None = None
    """Point of a click: a small paint around it is only the feedback of the button."""
    regions: list[Region] = field(default_factory=list, init=False)
    """All damage since the action except in ignored regions. Restless regions are included,
    because the action may have changed them too."""
    _painted: int = field(default=0, init=False)
    """Pixels of all paints that count."""
    _last: float | None = field(default=None, init=False)
    _pause: float = field(default=0.0, init=False)
    """Longest pause between two paints, or from the action to the first."""
    _arrived: bool = field(default=False, init=False)
    """True once damage exceeded panels and the clicked button."""
    _announced: bool = field(default=False, init=False)
    """True once a panel was painted."""
    _latest: deque[Damage] = field(default_factory=lambda: deque(maxlen=_CONSIDERED), init=False)
    _restless: tuple[Region, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        self._restless = (*self.moving, *restless(self.recent))

    def painted(self, damage: Damage) -> None:
        """Record damage."""
        wanted = [r for r in damage.regions if not _covered(r, self.rule.ignore)]
        self.regions += wanted
        self._latest.append(damage)
        if not all(_covered(region, self._restless) for region in wanted):
            # A late report never moves the last paint back.
            last = damage.time if self._last is None else max(self._last, damage.time)
            since = self.started if self._last is None else max(self._last, self.started)
            self._pause = max(self._pause, last - since)
            self._last = last
            self._painted += sum(math.prod(region.size) for region in wanted)
            for region in wanted:
                announces = _covered(region, self.margins)
                self._announced |= announces
                self._arrived |= not announces and not self._pressed(region)

    def remaining(self, now: float) -> float:
        """Return the seconds until ``verdict`` has to be called again if nothing is painted."""
        return max(0.0, self._due() - now)

    def verdict(self, now: float) -> Verdict | None:
        """Return the end of the wait; None while it goes on."""
        if now < self._due():
            return None
        if self._last is None:
            return "no_change"
        return "quiet" if now >= self._rested(self._last) else "ceiling"

    def overdue(self, now: float) -> bool:
        """Return True once ``rule.longest`` has passed since the action."""
        return now >= self.started + self.rule.longest

    def moving_at(self, now: float) -> tuple[Region, ...]:
        """Return the restless regions at the end of the wait.

        After a wait that reached the ceiling, regions that were still repainted are added.
        """
        latest = [damage for damage in self._latest if damage.time >= now - _A_MOMENT]
        return (*self._restless, *restless(latest)) if self.overdue(now) else self._restless

    def _due(self) -> float:
        first = self.started + self.rule.grace if self._last is None else self._rested(self._last)
        return min(first, self.started + self.rule.longest)

    def _rested(self, last: float) -> float:
        # Paints before `started` belong to the action itself, whose end may cause further ones.
        is_small = self._painted <= _SMALL_PAINT
        least = self.rule.small_quiet if is_small else self.rule.quiet
        quiet = min(max(least, _RHYTHM * self._pause), _LONGEST_QUIET * self.rule.quiet)
        if not self._arrived:
            quiet = max(quiet, self.rule.grace * (_ANNOUNCED if self._announced else 1.0))
        return max(last, self.started) + quiet

    def _pressed(self, region: Region) -> bool:
        at = self.clicked
        return at is not None and region.holds(at) and math.prod(region.size) <= _LARGEST_BUTTON


def restless(recent: Sequence[Damage]) -> tuple[Region, ...]:
    """Return small boxes around the pixels that two or more damage events painted."""
    once: list[Region] = []
    twice: list[Region] = []
    for damage in recent[-_CONSIDERED:]:
        boxes = joined(damage.regions[:_CONSIDERED])
        common = (box.intersection(other) for box in boxes for other in once)
        twice += [region for region in common if not region.is_empty]
        once = joined((*once, *boxes))
    return tuple(box for box in joined(twice) if math.prod(box.size) <= _LARGEST_MOVING)


def _covered(region: Region, by: Iterable[Region]) -> bool:
    return any(other.covers(region) for other in by)


def joined(regions: Iterable[Region]) -> list[Region]:
    """Join overlapping regions to bounding boxes until no two boxes overlap."""
    boxes: list[Region] = []
    for region in regions:
        box = region
        # A joined box may overlap further boxes, so this repeats until none is left.
        while True:
            apart = [other for other in boxes if not touching(box, other)]
            if len(apart) == len(boxes):
                break
            for other in boxes:
                if touching(box, other):
                    box = around(box, other)
            boxes = apart
        boxes.append(box)
    return boxes


def touching(one: Region, other: Region) -> bool:
    """Return True if two regions have a pixel in common."""
    return not one.intersection(other).is_empty


def around(one: Region, other: Region) -> Region:
    """Return the smallest region that covers both."""
    return Region(
        min(one.left, other.left),
        min(one.top, other.top),
        max(one.right, other.right),
        max(one.bottom, other.bottom),
    )
