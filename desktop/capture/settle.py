"""When the screen has come to rest after an action."""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from deskhand.desktop.geometry import Point, Region

from .frames import Damage

Verdict = Literal["quiet", "ceiling", "no_change"]

# Silence counts as rest when it is this much longer than the longest pause between two paints:
# on a busy machine a program paints the steps of one change far apart.
_RHYTHM = 2.0
_LONGEST_QUIET = 3.0
"""Times the rule's quiet; a slow painter keeps nobody waiting for longer."""

# A panel shows a new title before the window itself is painted: it may take this many times
# the grace that a first paint has.
_ANNOUNCED = 2.0
# A button shows at once that it was pressed; what it does comes later. Pixels of the largest.
_LARGEST_BUTTON = 640 * 120

# A caret, a spinner, a clock. Whatever is larger may be a page that is still being built.
_LARGEST_MOVING = 400 * 400
_A_MOMENT = 1.0

# A screen that is painted all over all the time is not worth more work than this.
_CONSIDERED = 64


@dataclass(frozen=True)
class SettleRule:
    """What counts as rest. All times in seconds."""

    quiet: float = 0.1
    """So long at least nothing may be painted; longer where paints come far apart."""
    longest: float = 3.0
    """Longest wait."""
    grace: float = 0.25
    """So long the first paint may take; then the action is taken to change nothing."""
    ignore: tuple[Region, ...] = ()
    """Regions whose paints do not count."""


@dataclass
class Settle:
    """Judge from what is painted after an action whether the screen rests again.

    Regions that were repainted twice or more just before the action (a blinking caret, a
    spinner) do not count. Times are seconds on one monotonic clock, given by the caller.
    """

    rule: SettleRule
    started: float
    recent: Sequence[Damage] = ()
    """What was painted in the second before the action."""
    moving: Sequence[Region] = ()
    """Regions known to be repainted all the time."""
    margins: Sequence[Region] = ()
    """Panels: what is painted there tells of something that is still to come."""
    clicked: Point | None = None
    """Where a mouse button was pressed: a small paint around it is only the button's answer."""
    regions: list[Region] = field(default_factory=list, init=False)
    """What was painted since, but for the regions to ignore; restless ones are among them, for
    what moves by itself may still have been changed by the action."""
    _last: float | None = field(default=None, init=False)
    _pause: float = field(default=0.0, init=False)
    """The longest between two paints, or from the action to the first."""
    _arrived: bool = field(default=False, init=False)
    """Whether more was painted than panels and the button that was clicked."""
    _announced: bool = field(default=False, init=False)
    """Whether a panel was painted."""
    _latest: deque[Damage] = field(default_factory=lambda: deque(maxlen=_CONSIDERED), init=False)
    _restless: tuple[Region, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        self._restless = (*self.moving, *restless(self.recent))

    def painted(self, damage: Damage) -> None:
        """Take note of a paint."""
        wanted = [r for r in damage.regions if not _covered(r, self.rule.ignore)]
        self.regions += wanted
        self._latest.append(damage)
        if not all(_covered(region, self._restless) for region in wanted):
            last = damage.time if self._last is None else max(self._last, damage.time)
            since = self.started if self._last is None else max(self._last, self.started)
            self._pause = max(self._pause, last - since)
            self._last = last
            for region in wanted:
                announces = _covered(region, self.margins)
                self._announced |= announces
                self._arrived |= not announces and not self._pressed(region)

    def remaining(self, now: float) -> float:
        """Seconds until :meth:`verdict` has to be asked again if nothing is painted."""
        return max(0.0, self._due() - now)

    def verdict(self, now: float) -> Verdict | None:
        """How the wait ended; ``None`` while it has not."""
        if now < self._due():
            return None
        if self._last is None:
            return "no_change"
        return "quiet" if now >= self._rested(self._last) else "ceiling"

    def overdue(self, now: float) -> bool:
        """Whether the longest wait is over, whatever is still being painted."""
        return now >= self.started + self.rule.longest

    def moving_at(self, now: float) -> tuple[Region, ...]:
        """Regions that were repainted again and again until the end of the wait."""
        latest = [damage for damage in self._latest if damage.time >= now - _A_MOMENT]
        return (*self._restless, *restless(latest)) if self.overdue(now) else self._restless

    def _due(self) -> float:
        first = self.started + self.rule.grace if self._last is None else self._rested(self._last)
        return min(first, self.started + self.rule.longest)

    def _rested(self, last: float) -> float:
        # Painted while the action was under way: the action's end still has to show itself.
        least = self.rule.quiet
        quiet = min(max(least, _RHYTHM * self._pause), _LONGEST_QUIET * least)
        if not self._arrived:
            quiet = max(quiet, self.rule.grace * (_ANNOUNCED if self._announced else 1.0))
        return max(last, self.started) + quiet

    def _pressed(self, region: Region) -> bool:
        at = self.clicked
        return at is not None and region.holds(at) and math.prod(region.size) <= _LARGEST_BUTTON


def restless(recent: Sequence[Damage]) -> tuple[Region, ...]:
    """Small boxes around the pixels that were painted by two or more of the damages."""
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
    """Boxes that do not overlap, around regions that do."""
    boxes: list[Region] = []
    for region in regions:
        box = region
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
    """Whether two regions have a pixel in common."""
    return not one.intersection(other).is_empty


def around(one: Region, other: Region) -> Region:
    """The smallest region that covers both."""
    return Region(
        min(one.left, other.left),
        min(one.top, other.top),
        max(one.right, other.right),
        max(one.bottom, other.bottom),
    )
