"""Frame rate of a recording: lower for animations than for reactions to input.

An endless animation shows nothing more at fifteen frames a second than at five. A reaction to
input, or a screen that has only begun to change, is recorded at the full rate of the quality level.
"""

UNBROKEN = 1.0
"""Seconds without paint that end an animation; a slow one has shorter pauses between frames."""


class FrameRateLimit:
    """Frame rate derived from input and paint. Times are seconds on the clock of the frames."""

    def __init__(self, animation_after: float, animation_fps: int) -> None:
        self._after = animation_after
        self._fps = animation_fps
        self._since = self._painted = float("-inf")

    def input(self, at: float) -> None:
        """Record input at ``at``; a report that arrives late never moves the time back."""
        self._since = max(self._since, at)

    def painted(self, at: float) -> None:
        """Record damage at ``at``; after a pause the next animation begins."""
        # A first paint counts like input: the first seconds of a change are worth the full rate.
        if at > self._painted + UNBROKEN:
            self.input(at)
        # Reports may arrive late, so the maximum counts.
        self._painted = max(self._painted, at)

    def fps(self, most: int) -> int:
        """Return the frames a second to record now, at most ``most``."""
        animated = self._painted - self._since > self._after
        return min(most, self._fps) if animated else most
