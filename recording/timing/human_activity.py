"""Periods in which a person used the desktop, as steps.

Single inputs are joined to one step as long as the pause between them is at most ``PAUSE``.
"""

from deskhand.recording.step import Step

PAUSE = 3.0
"""Seconds without input after which a period has ended."""

TOOL = "human"
TITLE = "A person used the desktop"


class HumanActivity:
    """Joins inputs to periods. Times are seconds on one monotonic clock."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._last = 0.0

    def input(self, at: float) -> Step | None:
        """Record input at ``at``; return the previous period if it has ended by then."""
        ended = self.ended(at)
        if self._since is None:
            self._since = self._last = at
        # Input may be reported out of order by several viewers.
        self._last = max(self._last, at)
        return ended

    def ended(self, now: float) -> Step | None:
        """Return the period that has ended at ``now``, each one once; None if there is none."""
        return self.finish() if now > self._last + PAUSE else None

    def finish(self) -> Step | None:
        """End the current period at its last input and return it; None if there is none."""
        since, self._since = self._since, None
        if since is None:
            return None
        return Step(tool=TOOL, title=TITLE, started=since, ended=self._last)
