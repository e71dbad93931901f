"""Clocks of the recorder."""

import time
from typing import Protocol


class Clock(Protocol):
    """Source of the monotonic and the calendar time."""

    def now(self) -> float:
        """Return monotonic seconds, on the clock of the captured frames."""

    def since_1970(self) -> float:
        """Return seconds since 1970."""


class SystemClock:
    """Clocks of the machine."""

    def now(self) -> float:
        """Return ``time.monotonic()``."""
        return time.monotonic()

    def since_1970(self) -> float:
        """Return ``time.time()``."""
        return time.time()
