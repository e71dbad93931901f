"""Report on processes that are, or were, stopped. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StopReport:
    """The processes that were stopped during one time, which is in seconds."""

    count: int = 0
    running: tuple[str, ...] = ()
    """Names of the processes that could not be stopped."""
    seconds: float = 0.0

    def within(self, seconds: float) -> "StopReport":
        """Return the report for the last ``seconds`` of its time."""
        return StopReport(self.count, self.running, min(self.seconds, seconds))

    def followed_by(self, other: "StopReport") -> "StopReport":
        """Return the report on both times together."""
        running = tuple(sorted({*self.running, *other.running}))
        return StopReport(
            max(self.count, other.count), running, round(self.seconds + other.seconds, 3)
        )
