"""Whether control planes still use a node. Pure."""

from collections.abc import Callable

LINGER_SECONDS = 900.0
"""As long as a desktop service waits for requests before it ends."""


class PlaneSightings:
    """The time of the last request of any control plane; ``now`` is a monotonic clock."""

    def __init__(self, now: Callable[[], float], linger_seconds: float = LINGER_SECONDS) -> None:
        self._now = now
        self._linger_seconds = linger_seconds
        self._last = now()

    def seen(self) -> None:
        """Record a request."""
        self._last = self._now()

    @property
    def age(self) -> float:
        """Seconds since the last request, or since the start."""
        return self._now() - self._last

    def recently(self) -> bool:
        """Return whether a control plane may still want the desktops."""
        return self.age < self._linger_seconds
