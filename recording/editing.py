"""Pieces, pictures and chapters of videos that somebody else keeps."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import clips, steps, stills


class Editor:
    """Works on files of which it is told everything; every call blocks: use a thread."""

    def cut(self, stretches: Sequence[tuple[Path, float, float]], target: Path) -> None:
        """Write stretches of videos one behind the other into a new one, as ``clips.cut``."""
        clips.cut([clips.Stretch(*stretch) for stretch in stretches], target)

    def still(self, video: Path, at: float) -> bytes:
        """Return a small JPEG of a moment; raises ``UnreadableFilm``."""
        return stills.jpeg(stills.shrunk(clips.picture(video, at)))

    def chapters(self, told: Sequence[Mapping[str, Any]], until: float) -> str:
        """Return steps, as recordings tell of them, as chapters of a video of that length."""
        return steps.retold(told, until)
