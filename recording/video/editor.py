"""Pieces and pictures of videos that somebody else keeps."""

from collections.abc import Sequence
from pathlib import Path

from . import clips, jpeg


class Editor:
    """Works on files of which it is told everything; every call blocks: use a thread."""

    def cut(self, stretches: Sequence[tuple[Path, float, float]], target: Path) -> None:
        """Write stretches of videos one behind the other into a new one, as ``clips.cut``."""
        clips.cut([clips.Stretch(*stretch) for stretch in stretches], target)

    def still(self, video: Path, at: float) -> bytes:
        """Return a small JPEG of a moment; raises ``UnreadableVideo``."""
        return jpeg.jpeg(jpeg.downscaled(clips.picture(video, at)))
