"""Tells threads whether the screen is private just now."""

import threading
import time
from collections.abc import Callable


class PrivacyMode:
    """Drawn before the screen while a person has it in private. Any thread may ask or wait."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._condition = threading.Condition()
        self._drawn_at: float | None = None
        self._count = 0
        self.seconds = 0.0
        """How long the last time was."""

    @property
    def drawn(self) -> bool:
        """Whether it hides the screen."""
        return self._drawn_at is not None

    @property
    def count(self) -> int:
        """How often it was drawn: the same before and after a look, nothing private was seen."""
        return self._count

    def draw(self, wanted: bool) -> None:
        """Draw or lift it; nothing if it is as wanted."""
        with self._condition:
            if wanted == self.drawn:
                return
            now = self._clock()
            if self._drawn_at is None:
                self._count += 1
                self._drawn_at = now
            else:
                self.seconds = now - self._drawn_at
                self._drawn_at = None
            self._condition.notify_all()

    def wait_lifted(self, timeout: float, given_up: Callable[[], bool]) -> bool:
        """Block until it is lifted, at most ``timeout`` seconds; return whether it is.

        After ``given_up`` became true, `wake` ends the wait.
        """
        with self._condition:
            self._condition.wait_for(lambda: not self.drawn or given_up(), timeout)
            return not self.drawn

    def wake(self) -> None:
        """Have those who wait look whether they gave up."""
        with self._condition:
            self._condition.notify_all()
