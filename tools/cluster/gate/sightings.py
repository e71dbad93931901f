"""Whether control planes still use a node. Pure."""

from collections.abc import Callable

LINGER_SECONDS = 900.0
"""By default; as long as a desktop service waits for requests before it ends."""


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

    @property
    def left(self) -> float:
        """Seconds until its desktops are wanted no more, if no request comes; 0 from then on."""
        return max(0.0, self._linger_seconds - self.age)

    def recently(self) -> bool:
        """Return whether a control plane may still want the desktops."""
        return self.left > 0.0
