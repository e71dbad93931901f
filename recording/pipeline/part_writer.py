"""One file of a recording while it grows: video, journal and the best picture so far."""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from deskhand.recording.errors import RecordingError
from deskhand.recording.library import metadata as parts
from deskhand.recording.library.catalog import Catalog
from deskhand.recording.library.disk_reserve import DiskReserve
from deskhand.recording.library.faststart import remember
from deskhand.recording.library.metadata import EndReason, Part
from deskhand.recording.library.steps import merged
from deskhand.recording.step import Step
from deskhand.recording.timing import thumbnail_choice as thumbnail
from deskhand.recording.timing.size_budget import SizeBudget
from deskhand.recording.timing.timeline import Knot, TimeMap
from deskhand.recording.video import jpeg as stills
from deskhand.recording.video.encoder import EncodedFrame, Template
from deskhand.recording.video.mp4_file import Mp4File

logger = logging.getLogger(__name__)


class PartWriter:
    """Takes coded frames from its first keyframe on. Times are seconds on one monotonic clock."""

    def __init__(
        self,
        part: Part,
        catalogue: Catalog,
        template: Template,
        *,
        origin: float,
        cap: int,
        rung: int,
    ) -> None:
        self.part = part
        self.origin = origin
        self.marked = origin
        """Up to here it knows the map of times."""
        self.budget = SizeBudget(cap, rung)
        self._catalogue = catalogue
        self._paths = catalogue.paths(part.recording_id, part.index)
        self._paths.video.parent.mkdir(parents=True, exist_ok=True)
        self._film = Mp4File(self._paths.video, template)
        self._ballast = DiskReserve(self._paths.video)
        try:
            self._journal = self._opened()
        except OSError:
            self._attempt(self._film.close)
            self._ballast.drop()
            self._paths.video.unlink(missing_ok=True)
            raise
        self._first_stamp: int | None = None
        self._steps: list[Step] = []
        self._knots: list[Knot] = [(0.0, 0.0)]
        self._contest = thumbnail.ThumbnailChoice()
        self._still: stills.Still | None = None

    def write(self, coded: EncodedFrame, stamp: int) -> None:
        """Append a frame; stamps are milliseconds of the desktop's whole video.

        Raises:
            DiskFull: If there is no room.
            RecordingFailed: If FFmpeg refuses it.
        """
        if coded.at < self.origin:
            return
        if self._first_stamp is None:
            self._first_stamp = stamp
        self._film.write(coded.data, key=coded.key, at=stamp - self._first_stamp)
        self.budget.spent(self._film.size, self._film.frames)

    def note(self, step: Step) -> None:
        """Remember a step, also for after a crash."""
        step = step.moved(-self.origin)
        self._steps.append(step)
        self._journal.write(parts.noted(step))

    def mark(self, times: TimeMap, until: float) -> None:
        """Take over how the map of times went on since the last mark, up to ``until``.

        Raises:
            OSError: If the journal takes no more; the reel knows the map all the same.
        """
        real, video = self._knots[-1]
        knots = [(real + knot[0], video + knot[1]) for knot in times.knots[1:]]
        self._knots += knots
        self.marked = until
        if knots:
            self._journal.write(parts.seen(knots))

    def looks_for_still(self, now: float) -> bool:
        """Whether ``offer`` would look at a frame now."""
        return self._contest.due(now)

    def offer(self, pixels: NDArray[np.uint8], score: float, now: float) -> None:
        """A candidate for the thumbnail."""
        if self._contest.wins(score, now):
            self._still = stills.shrunk(pixels)

    def sync(self) -> None:
        """Wait until the video is on the disk."""
        self._film.sync()

    def close(self, end_reason: EndReason) -> Part:
        """Make the file whole and describe it; it plays when this returns.

        No room is no error any more: the file then plays as far as it goes.
        """
        self._attempt(self._journal.close)
        self._ballast.drop()
        # The video first: it plays from here on, whatever there is to be said about it.
        self._attempt(self._film.close)
        part = replace(
            self.part,
            knots=parts.simplified(self._knots),
            steps=merged(self._steps),
            end_reason=end_reason,
        )
        self._attempt(lambda: remember(self._paths.video, part))
        self._attempt(lambda: self._illustrate(self._paths.thumbnail))
        self._attempt(lambda: self._describe(part))
        return part

    def _opened(self) -> TextIO:
        journal = self._paths.journal.open("a", encoding="utf-8", buffering=1)
        with ExitStack() as stack:
            stack.callback(self._paths.journal.unlink)
            stack.push(journal)
            journal.write(parts.opening(self.part))
            stack.pop_all()
        return journal

    def _attempt(self, work: Callable[[], None]) -> None:
        # Where the index finds no room, the few words about the file may still find some.
        try:
            work()
        except (OSError, RecordingError) as error:
            logger.warning("recording %s is not whole: %s", self.part.recording_id, error)

    def _illustrate(self, thumbnail: Path) -> None:
        if self._still is not None:
            thumbnail.write_bytes(stills.jpeg(self._still))

    def _describe(self, part: Part) -> None:
        self._catalogue.save(replace(part, size=self._paths.video.stat().st_size))
