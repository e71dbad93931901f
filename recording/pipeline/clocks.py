"""The clocks that a recorder goes by."""

import time
from typing import Protocol


class Clock(Protocol):
    """What time it is."""

    def now(self) -> float:
        """Seconds, monotonic, the clock of the shots."""

    def since_1970(self) -> float:
        """Seconds of the calendar."""


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    def since_1970(self) -> float:
        """Calendar seconds."""
        return time.time()
