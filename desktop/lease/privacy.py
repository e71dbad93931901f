"""Privacy mode, as the threads that read the screen see it."""

import threading
import time
from collections.abc import Callable


class PrivacyMode:
    """Active while a person is in control in private. Any thread may read it or wait.

    The recorder reads `activations` before and after it takes a frame: when both are equal and
    the mode is inactive, the frame shows nothing private.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._condition = threading.Condition()
        self._active_since: float | None = None
        self._activations = 0
        self.last_seconds = 0.0
        """Duration of the last completed activation."""

    @property
    def active(self) -> bool:
        """True while the screen must not be shown."""
        # Read without the lock: reading one attribute is atomic.
        return self._active_since is not None

    @property
    def activations(self) -> int:
        """The number of times that the mode became active."""
        return self._activations

    def set(self, active: bool) -> None:
        """Activate or deactivate the mode; setting the present state again changes nothing."""
        with self._condition:
            if active == self.active:
                return
            now = self._clock()
            if self._active_since is None:
                self._activations += 1
                self._active_since = now
            else:
                self.last_seconds = now - self._active_since
                self._active_since = None
            self._condition.notify_all()

    def wait_inactive(self, timeout: float, cancelled: Callable[[], bool]) -> bool:
        """Block until the mode is inactive, at most ``timeout`` seconds; return whether it is.

        `wake` ends the wait after ``cancelled`` became true.
        """
        with self._condition:
            self._condition.wait_for(lambda: not self.active or cancelled(), timeout)
            return not self.active

    def wake(self) -> None:
        """Wake the waiting threads, so that each evaluates its ``cancelled``."""
        with self._condition:
            self._condition.notify_all()
