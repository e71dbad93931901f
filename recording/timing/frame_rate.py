"""How often a screen is worth a picture.

A page that is animated for ever tells no more in fifteen pictures a second than in five. What
answers to input, or has only begun to move, is shown as closely as the quality allows.
"""

UNBROKEN = 1.0
"""Seconds without paint that end an animation."""


class FrameRateLimit:
    """Judges by input and paint. Times are seconds on the clock of the shots."""

    def __init__(self, animation_after: float, animation_fps: int) -> None:
        self._after = animation_after
        self._fps = animation_fps
        self._since = self._painted = float("-inf")

    def input(self, at: float) -> None:
        """Somebody acted at ``at``."""
        self._since = max(self._since, at)

    def painted(self, at: float) -> None:
        """The screen changed at ``at``."""
        if at > self._painted + UNBROKEN:
            self.input(at)
        self._painted = max(self._painted, at)

    def fps(self, most: int) -> int:
        """Pictures a second that are worth taking, of at most ``most``."""
        animated = self._painted - self._since > self._after
        return min(most, self._fps) if animated else most
