"""Writer of one part: its video, its journal and its thumbnail.

The journal repeats everything that is only in memory until the part is closed (steps and time map),
so that ``Catalog.recover`` can describe the part after a kill. The files have different fates on a
full disk: the video is closed first, because it is the largest loss, and each further file is
attempted although an earlier one failed.
"""

import logging
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from deskhand.recording.disk.reserve import DiskReserve
from deskhand.recording.errors import RecordingError
from deskhand.recording.library import metadata
from deskhand.recording.library.catalog import RESERVE, Catalog
from deskhand.recording.library.faststart import embed_description
from deskhand.recording.library.metadata import EndReason, Part
from deskhand.recording.library.steps import merged
from deskhand.recording.ports import CapturedFrame
from deskhand.recording.step import Step
from deskhand.recording.timing import thumbnail_choice as thumbnail
from deskhand.recording.timing.size_budget import SizeBudget
from deskhand.recording.timing.timeline import TimeMap, TimePoint
from deskhand.recording.video import jpeg
from deskhand.recording.video.encoder import EncodedFrame, Template
from deskhand.recording.video.mp4_file import Mp4File

logger = logging.getLogger(__name__)

RESERVED = 512 * 1024
"""Bytes for the description of a part, its thumbnail and, unless it is very long, its moov box."""


def offer_thumbnail(writers: Iterable["PartWriter"], frame: CapturedFrame) -> None:
    """Offer a frame as the thumbnail to all parts that accept a candidate now."""
    if frame.placeholder:
        return
    interested = [writer for writer in writers if writer.wants_thumbnail(frame.time)]
    if interested:
        # The score is computed once, for all files that need a candidate.
        score = thumbnail.detail_score(frame.pixels)
        for writer in interested:
            writer.offer_thumbnail(frame.pixels, score, frame.time)


class PartWriter:
    """Writes encoded frames from a first keyframe on. Times are monotonic seconds."""

    def __init__(
        self,
        part: Part,
        catalog: Catalog,
        template: Template,
        *,
        origin: float,
        cap: int,
        level: int,
    ) -> None:
        self.part = part
        self.origin = origin
        self.map_end = origin
        """End of the known part of the time map."""
        self.budget = SizeBudget(cap, level)
        self._catalog = catalog
        self._paths = catalog.paths(part.recording_id, part.index)
        self._paths.video.parent.mkdir(parents=True, exist_ok=True)
        self._video = Mp4File(self._paths.video, template)
        self._reserve = DiskReserve(self._paths.video.with_suffix(RESERVE), RESERVED)
        self._reserve.take()
        try:
            self._journal = self._opened()
        except OSError:
            self._attempt(self._video.close)
            self._reserve.release()
            self._paths.video.unlink(missing_ok=True)
            raise
        self._first_stamp: int | None = None
        self._steps: list[Step] = []
        self._points: list[TimePoint] = [(0.0, 0.0)]
        self._thumbnail_choice = thumbnail.ThumbnailChoice()
        self._thumbnail: jpeg.Thumbnail | None = None

    def write(self, encoded: EncodedFrame, stamp: int) -> None:
        """Append a frame; time stamps are milliseconds of the desktop's whole video.

        Raises:
            DiskFull: If there is no free space.
            RecordingFailed: If FFmpeg rejects the frame.
        """
        # The scheduler still returns frames from before the part's first keyframe.
        if encoded.at < self.origin:
            return
        if self._first_stamp is None:
            # Each file begins at 0, while the scheduler counts from its own start.
            self._first_stamp = stamp
        self._video.write(encoded.data, key=encoded.key, at=stamp - self._first_stamp)
        self.budget.spent(self._video.size, self._video.frames)

    def add_step(self, step: Step) -> None:
        """Add a step and write it to the journal."""
        step = step.moved(-self.origin)
        self._steps.append(step)
        self._journal.write(metadata.step_line(step))

    def extend_map(self, time_map: TimeMap, until: float) -> None:
        """Append the time map from ``map_end`` to ``until``.

        Raises:
            OSError: If the journal cannot be written; the writer has the map all the same.
        """
        # The points are relative to `map_end`; the first one repeats the last known point.
        real, video = self._points[-1]
        points = [(real + point[0], video + point[1]) for point in time_map.points[1:]]
        self._points += points
        self.map_end = until
        if points:
            self._journal.write(metadata.points_line(points))

    def wants_thumbnail(self, now: float) -> bool:
        """Return True if ``offer_thumbnail`` accepts a candidate at ``now``."""
        return self._thumbnail_choice.due(now)

    def offer_thumbnail(self, pixels: NDArray[np.uint8], score: float, now: float) -> None:
        """Keep a frame as the thumbnail if its score wins."""
        if self._thumbnail_choice.wins(score, now):
            self._thumbnail = jpeg.downscaled(pixels)

    def sync(self) -> None:
        """Force the video to the disk."""
        self._video.sync()

    def close(self, end_reason: EndReason) -> Part:
        """Close the video and write the description and the thumbnail; return the part.

        A full disk is no error here: the video then plays without its moov box.
        """
        self._attempt(self._journal.close)
        self._reserve.release()
        # The video is first: it plays from here on, even if there is no room for its description.
        self._attempt(self._video.close)
        part = replace(
            self.part,
            points=metadata.simplified(self._points),
            steps=merged(self._steps),
            end_reason=end_reason,
        )
        self._attempt(lambda: embed_description(self._paths.video, part))
        self._attempt(lambda: self._illustrate(self._paths.thumbnail))
        self._attempt(lambda: self._describe(part))
        return part

    def _opened(self) -> TextIO:
        # Line buffering: a kill of the process loses no complete line.
        journal = self._paths.journal.open("a", encoding="utf-8", buffering=1)
        with ExitStack() as stack:
            # A failed start leaves no journal behind.
            stack.callback(self._paths.journal.unlink)
            stack.push(journal)
            journal.write(metadata.opened_line(self.part))
            stack.pop_all()
        return journal

    def _attempt(self, work: Callable[[], None]) -> None:
        # A disk without room for the moov box may still have room for the short description.
        try:
            work()
        except (OSError, RecordingError) as error:
            logger.warning("recording %s is not whole: %s", self.part.recording_id, error)

    def _illustrate(self, thumbnail: Path) -> None:
        if self._thumbnail is not None:
            thumbnail.write_bytes(jpeg.jpeg(self._thumbnail))

    def _describe(self, part: Part) -> None:
        self._catalog.save(replace(part, size=self._paths.video.stat().st_size))
