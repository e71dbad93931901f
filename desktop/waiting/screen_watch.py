"""The screen since the begin of a wait: whether it was painted, rests, or shows something else."""

from collections.abc import Callable
from math import inf

from deskhand.desktop.capture.frames import Frame
from deskhand.desktop.capture.settle import Settle, SettleRule
from deskhand.desktop.computer.observer import DamageWatch, Observer
from deskhand.desktop.geometry import Region


class ScreenWatch:
    """One subscription to damage; ``before`` is the frame at its begin."""

    def __init__(
        self,
        observer: Observer,
        before: Frame,
        watch: DamageWatch,
        quiet: float,
        clock: Callable[[], float],
    ) -> None:
        self._observer = observer
        self._before = before
        self._watch = watch
        self._clock = clock
        rule = SettleRule(quiet, small_quiet=quiet, longest=inf, grace=quiet)
        self._settle = Settle(rule, clock(), watch.recent())
        self.painted_at = clock()

    async def follow(self, notify: Callable[[], None]) -> None:
        """Call ``notify`` after each paint, until it is cancelled.

        Raises:
            DisplayGone: When the display is lost.
        """
        while True:
            damage = await self._watch.next(3600.0)
            if damage is not None:
                self._settle.painted(damage)
                self.painted_at = self._clock()
                notify()

    def rest_in(self) -> float:
        """Return the seconds until the screen rests, if nothing is painted meanwhile."""
        return self._settle.remaining(self._clock())

    async def changed(self, region: Region) -> bool:
        """Return True if a region does not show what it showed at the begin."""
        return await self._observer.changed_in(self._before, region)
