"""Stretches in which a person used the desktop, as steps."""

from deskhand.recording.step import Step

PAUSE = 3.0
"""Seconds without input after which a person's stretch has ended."""

TOOL = "human"
TITLE = "A person used the desktop"


class HumanActivity:
    """Joins single inputs to stretches. Times are seconds on one monotonic clock."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._last = 0.0

    def input(self, at: float) -> Step | None:
        """There was input at ``at``; the stretch before, if that has ended by now."""
        ended = self.ended(at)
        if self._since is None:
            self._since = self._last = at
        self._last = max(self._last, at)
        return ended

    def ended(self, now: float) -> Step | None:
        """The stretch that is over at ``now``; each is told once."""
        return self.finish() if now > self._last + PAUSE else None

    def finish(self) -> Step | None:
        """The stretch that goes on, cut off here."""
        since, self._since = self._since, None
        if since is None:
            return None
        return Step(tool=TOOL, title=TITLE, started=since, ended=self._last)
