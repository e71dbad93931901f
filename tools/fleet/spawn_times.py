"""Durations of the starts of desktops."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class SpawnTimes:
    """Sum of the starts so far."""

    count: int = 0
    """Starts that succeeded."""
    seconds: float = 0.0
    failed: int = 0

    def succeeded(self, seconds: float) -> "SpawnTimes":
        """Return the sum with another start."""
        return replace(self, count=self.count + 1, seconds=self.seconds + seconds)

    def refused(self) -> "SpawnTimes":
        """Return the sum with another start that failed."""
        return replace(self, failed=self.failed + 1)
