"""Time map: real time to video time, with idle periods shortened.

An idle period lies between two activities. It consists of four pieces:

    activity |margin |  factor  | vanishing |margin | activity
    speed     1x      20x        1,000,000x  1x

The period plays at normal speed for ``margin`` seconds, then ``factor`` times faster until its
video is ``longest`` minus ``margin`` long, then so fast that it takes no frame, and its last
``margin`` seconds play at normal speed again.

Events: ``activity`` reports that something happened; ``settle`` fixes the map as far as it is
certain; ``finish`` fixes it up to the end.

Invariants: the map never falls and never runs faster than real time. The speed at a moment depends
on activities up to ``margin`` later and on nothing after that, so the map is fixed in one pass,
``margin`` seconds behind the present. The fixed part, up to the *horizon*, never changes: frames
that were written with its times need no correction. A report that arrives too late changes only
the part after the horizon.

Times are seconds on the caller's monotonic clock.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf

from deskhand.recording.settings import Squeeze

TimePoint = tuple[float, float]
"""A point of the time map: a real time and its video time."""


@dataclass(frozen=True)
class TimeMap:
    """Piecewise linear map from real time to video time and back; it never falls.

    Both times begin at 0. Outside of the points the map has the value of its nearest end.
    """

    points: tuple[TimePoint, ...]

    @property
    def end(self) -> TimePoint:
        """Length in real and in video time."""
        return self.points[-1]

    def video(self, real: float) -> float:
        """Return the video time that shows ``real``."""
        return _along(real, self._reals, self._videos)

    def real(self, video: float) -> float:
        """Return the earliest real time that is shown at ``video``."""
        return _along(video, self._videos, self._reals)

    @cached_property
    def _reals(self) -> list[float]:
        return [point[0] for point in self.points]

    @cached_property
    def _videos(self) -> list[float]:
        return [point[1] for point in self.points]


class Timeline:
    """Time map that grows while activities are reported."""

    def __init__(self, start: float, squeeze: Squeeze) -> None:
        self._squeeze = squeeze
        self._real = [start]
        self._video = [0.0]
        self._slope = 0.0
        self._last = start
        self._coming: list[float] = []

    @property
    def horizon(self) -> float:
        """Real time up to which the map is fixed."""
        return self._real[-1]

    def activity(self, at: float) -> None:
        """Record activity at ``at``; a late report changes only the map after the horizon."""
        # Reports of several sources may arrive out of order.
        if at > self._last and (not self._coming or at != self._coming[-1]):
            insort(self._coming, at)

    def settle(self, now: float) -> None:
        """Fix the map as far as it is certain once all activities until ``now`` are reported."""
        self._fix(now - self._squeeze.margin)

    def finish(self, at: float) -> None:
        """Record an activity at ``at`` and fix the map up to it."""
        self.activity(at)
        self._fix(at)

    def video(self, at: float) -> float:
        """Return the video time of ``at``; after the horizon as if no further activity came."""
        if at <= self.horizon:
            return _along(at, self._real, self._video)
        begin, shown = self.horizon, self._video[-1]
        for end, slope in self._stretches(at):
            shown += (end - begin) * slope
            begin = end
        return shown

    def between(self, start: float, end: float) -> TimeMap:
        """Return the fixed part of the map from ``start`` to ``end``, with both origins at 0."""
        end = min(end, self.horizon)
        origin = self.video(start)
        # Only the points strictly inside; both ends are interpolated.
        inner = range(bisect_right(self._real, start), bisect_left(self._real, end))
        points = [(0.0, 0.0)]
        points += [(self._real[i] - start, self._video[i] - origin) for i in inner]
        if end > start:
            points.append((end - start, self.video(end) - origin))
        return TimeMap(tuple(points))

    def forget(self, before: float) -> None:
        """Drop the points before ``before``, which are not needed any more."""
        # Two points stay, because `_extend` replaces the last one where the slope goes on.
        useless = min(bisect_right(self._real, before) - 1, len(self._real) - 2)
        if useless > 0:
            del self._real[:useless], self._video[:useless]

    def _fix(self, until: float) -> None:
        for end, slope in list(self._stretches(until)):
            self._extend(end, slope)
        known = bisect_right(self._coming, self.horizon)
        if known:
            self._last = max(self._last, self._coming[known - 1])
            del self._coming[:known]

    def _extend(self, end: float, slope: float) -> None:
        # One point at each change of speed: an hour of activity stays two points long.
        if slope == self._slope:
            self._real.pop()
            self._video.pop()
        self._slope = slope
        self._video.append(self._video[-1] + (end - self._real[-1]) * slope)
        self._real.append(end)

    def _stretches(self, until: float) -> Iterator[tuple[float, float]]:
        """Iterate over the ends and slopes of the pieces from the horizon to ``until``."""
        at, last = self.horizon, self._last
        for following in [*self._coming, inf]:
            while at < min(following, until):
                end, slope = self._piece(at, last, following)
                at = min(end, until)
                yield at, slope
            last = max(last, following)

    def _piece(self, at: float, last: float, following: float) -> tuple[float, float]:
        """Return the end and slope of the piece at ``at``, between two activities."""
        squeeze = self._squeeze
        fast, slow = last + squeeze.margin, following - squeeze.margin
        if at < fast:
            return min(fast, following), 1.0
        # The margin before the next activity.
        if at >= slow:
            return following, 1.0
        # From here on the period has used up its video.
        vanish = fast + (squeeze.longest - 2 * squeeze.margin) * squeeze.factor
        if at < vanish:
            return min(vanish, slow), 1 / squeeze.factor
        return slow, 1 / squeeze.vanishing


def _along(at: float, given: list[float], wanted: list[float]) -> float:
    above = bisect_left(given, at)
    if above == 0:
        return wanted[0]
    if above == len(given):
        return wanted[-1]
    share = (at - given[above - 1]) / (given[above] - given[above - 1])
    return wanted[above - 1] + share * (wanted[above] - wanted[above - 1])
