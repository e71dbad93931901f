"""What the recorder's thread does: shots, steps and the time to files on disk.

One thread calls all this, and tells the time; nothing here waits for anything but the encoder
and the disk.
"""

import logging
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from deskhand.recording.errors import DiskFull, RecordingError, RecordingFailed
from deskhand.recording.library.catalog import Catalog
from deskhand.recording.library.metadata import EndReason, Part
from deskhand.recording.ports import CapturedFrame
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.step import Step
from deskhand.recording.timing.frame_rate import FrameRateLimit
from deskhand.recording.timing.human_activity import HumanActivity
from deskhand.recording.timing.recording_states import RecordingStates
from deskhand.recording.timing.significance import SignificanceFilter
from deskhand.recording.timing.size_budget import NEXT_PART, QUALITY_LEVELS, together
from deskhand.recording.timing.thumbnail_choice import detail_score
from deskhand.recording.video.encoder import EncodedFrame
from deskhand.recording.video.mp4_file import no_room

from .frame_scheduler import FrameScheduler, TimestampedFrame
from .part_writer import PartWriter

logger = logging.getLogger(__name__)

MARK_EVERY = 1.0
"""Seconds between two notes about the map of times in the journals."""


class _Opening(NamedTuple):
    """A file that begins with the next keyframe."""

    recording_id: str
    label: str
    take: int
    rung: int


class RecordingEngine:
    """Records one desktop. Times are seconds on the monotonic clock of the shots.

    ``closed`` is told of each file that will not grow any more.
    """

    def __init__(
        self,
        catalogue: Catalog,
        settings: RecordingSettings,
        since_1970: float,
        closed: Callable[[Path], None] = lambda video: None,
    ) -> None:
        self._catalogue = catalogue
        self._closed = closed
        self._settings = settings
        self._since_1970 = since_1970
        self._table = RecordingStates(settings.most_at_once, settings.rest_after)
        self._toggling = SignificanceFilter()
        self._pace = FrameRateLimit(settings.animation_after, settings.animation_fps)
        self._presence = HumanActivity()
        self._exposure: FrameScheduler | None = None
        self._openings: list[_Opening] = []
        self._reels: dict[str, PartWriter] = {}
        self._begun: dict[str, _Opening] = {}
        self._synced = float("-inf")

    @property
    def active(self) -> tuple[str, ...]:
        """Ids of the recordings that run, oldest first."""
        return self._table.active()

    @property
    def needs_shot(self) -> bool:
        """Whether a recording cannot begin before ``shot`` is called."""
        return bool(self._openings) and self._exposure is None

    @property
    def fps(self) -> int:
        """How many shots a second are wanted at most."""
        rung = self._exposure.rung if self._exposure is not None else 0
        return self._pace.fps(QUALITY_LEVELS[rung].fps)

    def knows(self, recording_id: str) -> bool:
        """Whether the id was started since this studio exists."""
        return self._table.state(recording_id) is not None

    def start(self, recording_id: str, label: str, now: float) -> None:
        """Begin a recording; nothing happens if it runs already.

        Raises:
            TooManyRecordings: If all places are taken.
            DiskFull: If there is too little room to begin.
            RecordingFailed: If the encoder or the file cannot be opened.
        """
        take = 0
        if recording_id not in self.active:
            self._require_room()
            earlier = self._catalogue.parts(recording_id)
            take = 1 + max((part.take for part in earlier), default=0)
        if not self._table.start(recording_id, now):
            return
        self._begun[recording_id] = _Opening(recording_id, label, take, 0)
        self._openings.append(self._begun[recording_id])
        self._join(now)

    def stop(self, recording_id: str, now: float, reason: EndReason) -> None:
        """End a recording; nothing happens if it has ended.

        Raises:
            UnknownRecording: If it was never started here.
        """
        if self._table.stop(recording_id):
            self._end((recording_id,), now, reason)

    def stop_all(self, now: float, reason: EndReason) -> None:
        """End all recordings that run."""
        names = self.active
        for name in names:
            self._table.stop(name)
        self._end(names, now, reason)

    def forget(self, recording_id: str) -> None:
        """The recording was deleted, or could not begin."""
        self._table.forget(recording_id)
        self._begun.pop(recording_id, None)

    def note(self, step: Step, now: float) -> None:
        """A step of all recordings; the resting ones go on with it."""
        # Whoever tells of it may go by a clock that is ahead of ours.
        started, ended = min(step.started, now), min(step.ended, now)
        self._acted(now)
        self._toggling.input(started)
        self._toggling.input(ended)
        self._pace.input(ended)
        if self._exposure is not None:
            self._exposure.activity(started)
            self._exposure.activity(ended, step=True)
        self._write(step)

    def person(self, at: float) -> None:
        """Input of a person at ``at``; a stretch of it becomes a step."""
        self.touch(at)
        self._write(self._presence.seen(at))

    def touch(self, at: float) -> None:
        """Input of anybody at ``at``."""
        self._acted(at)
        self._toggling.input(at)
        self._pace.input(at)
        if self._exposure is not None:
            self._exposure.activity(at)

    def shot(self, shot: CapturedFrame) -> None:
        """A new picture of the desktop.

        Raises:
            RecordingFailed: If the encoder fails; all recordings have ended then.
        """
        if not self.active:
            return
        self._pace.painted(shot.time)
        if not shot.regions:
            self.touch(shot.time)
        tells = not shot.regions or self._toggling.significant(shot.regions, shot.time)
        try:
            exposure = self._exposing(shot)
            rung = together([reel.budget.rung for reel in self._reels.values()])
            if self._reels and rung != exposure.rung:
                exposure.set_rung(rung)
            coded = exposure.show(shot, tells=tells, key=bool(self._openings))
        except RecordingFailed:
            self.stop_all(shot.time, "failed")
            raise
        if coded is not None:
            self._open(coded)
            self._offer(shot)

    def tick(self, now: float) -> None:
        """Write what is due; close what has rested, is full or finds no room.

        Raises:
            RecordingFailed: If the encoder fails; all recordings have ended then.
        """
        if self._exposure is None:
            return
        try:
            due = self._exposure.due(now)
        except RecordingFailed:
            self.stop_all(now, "failed")
            raise
        self._deliver(due)
        self._write(self._presence.ended(now))
        self._end(self._table.rest(now), now, "idle")
        for name, reel in list(self._reels.items()):
            if reel.budget.full:
                self._next_part(name, reel, now)
        self._mark()
        if now >= self._synced + self._settings.sync_every:
            self._sync(now)

    def deadline(self) -> float | None:
        """When ``tick`` is worth calling if nothing else happens."""
        exposed = self._exposure.deadline() if self._exposure is not None else None
        moments = [m for m in (exposed, self._table.next_rest()) if m is not None]
        return min(moments, default=None)

    def _write(self, step: Step | None) -> None:
        if step is not None:
            self._each(lambda reel: reel.note(step))

    def _each(self, work: Callable[[PartWriter], None]) -> None:
        """Do something with every file; where the disk refuses, that recording ends."""
        for name, reel in list(self._reels.items()):
            try:
                work(reel)
            except (OSError, RecordingError) as error:
                self._broke(name, error)

    def _acted(self, now: float) -> None:
        self._openings += [self._begun[name] for name in self._table.activity(now)]
        self._join(now)

    def _join(self, now: float) -> None:
        if self._openings and self._exposure is not None:
            coded = self._exposure.again(now, key=True)
            if coded is not None:
                self._open(coded)

    def _exposing(self, shot: CapturedFrame) -> FrameScheduler:
        if self._exposure is None:
            height, width = shot.pixels.shape[:2]
            rung = min((opening.rung for opening in self._openings), default=0)
            self._exposure = FrameScheduler(self._settings, (width, height), rung)
            self._exposure.open()
            self._synced = shot.time
        return self._exposure

    def _open(self, coded: EncodedFrame) -> None:
        openings, self._openings = self._openings, []
        for opening in openings:
            try:
                self._reels[opening.recording_id] = self._reel(opening, coded.at)
            except (OSError, RecordingFailed) as error:
                self.forget(opening.recording_id)
                logger.error("recording %s cannot be written: %s", opening.recording_id, error)
        self._rest_exposure()

    def _reel(self, opening: _Opening, origin: float) -> PartWriter:
        if self._exposure is None:
            raise RecordingFailed("no picture yet")
        part = Part(
            recording_id=opening.recording_id,
            index=self._catalogue.next_index(opening.recording_id),
            take=opening.take,
            label=opening.label,
            started_at=self._since_1970 + origin,
        )
        return PartWriter(
            part,
            self._catalogue,
            self._exposure.template,
            origin=origin,
            cap=self._settings.largest_file,
            rung=opening.rung,
        )

    def _deliver(self, frames: Iterable[TimestampedFrame]) -> None:
        for frame in frames:
            self._each(partial(PartWriter.write, coded=frame.coded, stamp=frame.stamp))

    def _broke(self, name: str, error: Exception) -> None:
        logger.error("recording %s ended: %s", name, error)
        self._table.stop(name)
        full = isinstance(error, DiskFull) or no_room(error)
        self._close(name, "disk_full" if full else "failed")
        self._rest_exposure()

    def _end(self, names: tuple[str, ...], now: float, reason: EndReason) -> None:
        self._openings = [o for o in self._openings if o.recording_id not in names]
        if names:
            self._finish(names, now, reason)
            self._rest_exposure()

    def _finish(self, names: tuple[str, ...], now: float, reason: EndReason) -> None:
        if self._exposure is None:
            return
        try:
            self._exposure.again(now)
        except RecordingFailed as error:
            logger.error("the last picture is missing: %s", error)
        self._deliver(self._exposure.finish(now))
        self._write(self._presence.finish())
        for name in names:
            self._close(name, reason)

    def _close(self, name: str, reason: EndReason) -> None:
        reel = self._reels.pop(name, None)
        if reel is not None and self._exposure is not None:
            try:
                reel.mark(*self._exposure.times(reel.marked))
            except OSError as error:
                logger.warning("the journal of recording %s lacks its end: %s", name, error)
            part = reel.close(reason)
            self._closed(self._catalogue.paths(name, part.index).video)

    def _next_part(self, name: str, reel: PartWriter, now: float) -> None:
        self._finish((name,), now, "cap")
        if name in self.active:
            self._openings.append(_Opening(name, reel.part.label, reel.part.take, NEXT_PART))
            self._join(now)

    def _rest_exposure(self) -> None:
        if not self._reels and not self._openings and self._exposure is not None:
            self._exposure.close()
            self._exposure = None
            self._toggling = SignificanceFilter()

    def _offer(self, shot: CapturedFrame) -> None:
        looking = [r for r in self._reels.values() if r.looks_for_still(shot.time)]
        if looking:
            score = detail_score(shot.pixels)
            for reel in looking:
                reel.offer(shot.pixels, score, shot.time)

    def _mark(self) -> None:
        exposure = self._exposure
        if exposure is None:
            return

        def mark(reel: PartWriter) -> None:
            times, until = exposure.times(reel.marked)
            if until >= reel.marked + MARK_EVERY:
                reel.mark(times, until)

        self._each(mark)
        exposure.forget(min((r.marked for r in self._reels.values()), default=0.0))

    def _sync(self, now: float) -> None:
        self._synced = now
        self._each(PartWriter.sync)
        try:
            free = shutil.disk_usage(self._catalogue.folder).free
        except OSError as error:
            logger.error("the folder of the recordings is lost: %s", error)
            self.stop_all(now, "failed")
            return
        if self._reels and free < self._settings.free_to_go_on:
            self.stop_all(now, "disk_full")

    def _require_room(self) -> None:
        self._catalogue.folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self._catalogue.folder).free
        if free < self._settings.free_to_start:
            raise DiskFull(free, self._settings.free_to_start)
