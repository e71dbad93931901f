"""Clips and still frames of videos that the caller stores, as one object for a port."""

from collections.abc import Sequence
from pathlib import Path

from . import clips, jpeg


class Editor:
    """Clips of files anywhere on disk. Every method blocks, so call it in a thread."""

    def cut(self, stretches: Sequence[tuple[Path, float, float]], target: Path) -> None:
        """Write stretches of videos one after the other into a new file, as ``clips.cut``."""
        clips.cut([clips.Stretch(*stretch) for stretch in stretches], target)

    def still(self, video: Path, at: float) -> bytes:
        """Return a small JPEG of the frame at ``at``; raises ``UnreadableVideo``."""
        return jpeg.jpeg(jpeg.downscaled(clips.picture(video, at)))
