"""Recording engine: frames, steps and time to files on disk.

The engine is the synchronous core of the recorder. One thread calls all methods and passes the
time as an argument; they wait for nothing but the encoder and the disk.

Events: ``start`` and ``stop`` (clients), ``add_damage`` and ``add_frame`` (display), ``add_step``,
``input`` and ``human_input`` (agents and people), ``tick`` (time; see ``deadline``).
Damage is activity at the time of its report, so late frames make the video jerky, never wrong.

Life cycle of one recording:

    start --> opening --> writing --> closed        by stop, display_lost, disk_full or failed
                 ^           |
                 |           +--> closed ("cap")    the file is full; the next part opens
                 |           +--> closed ("idle")   the recording rests
                 +-- the next part, or activity after a rest

An *opening* waits for the next keyframe, with which its file begins. All files share one frame
scheduler, which exists from the first frame on until no opening and no writer is left. Each active
recording of ``RecordingStates`` has one opening or one writer; an error of one file ends its own
recording only; an error of the encoder ends all of them.
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
from deskhand.recording.ports import CapturedFrame, RecentDamage
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.step import Step
from deskhand.recording.timing.frame_rate import FrameRateLimit
from deskhand.recording.timing.human_activity import HumanActivity
from deskhand.recording.timing.recording_states import RecordingStates
from deskhand.recording.timing.significance import SignificanceFilter
from deskhand.recording.timing.size_budget import NEXT_PART, QUALITY_LEVELS, shared_level
from deskhand.recording.video.encoder import EncodedFrame
from deskhand.recording.video.mp4_file import no_room

from .frame_scheduler import FrameScheduler, TimestampedFrame
from .part_writer import PartWriter, offer_thumbnail

logger = logging.getLogger(__name__)

MAP_INTERVAL = 1.0
"""Seconds between two entries about the time map in the journals."""


class _Opening(NamedTuple):
    """Part whose file begins with the next keyframe."""

    recording_id: str
    label: str
    session_number: int
    level: int


class RecordingEngine:
    """Records one desktop. Times are seconds on the monotonic clock of the frames.

    The engine calls ``on_closed`` with each video that will not grow any more.
    """

    def __init__(
        self,
        catalog: Catalog,
        settings: RecordingSettings,
        since_1970: float,
        on_closed: Callable[[Path], None] = lambda video: None,
    ) -> None:
        self._catalog = catalog
        self._on_closed = on_closed
        self._settings = settings
        self._since_1970 = since_1970
        self._states = RecordingStates(settings.most_at_once, settings.rest_after)
        self._significance = SignificanceFilter()
        self._frame_rate = FrameRateLimit(settings.animation_after, settings.animation_fps)
        self._human_activity = HumanActivity()
        self._scheduler: FrameScheduler | None = None
        self._openings: list[_Opening] = []
        self._writers: dict[str, PartWriter] = {}
        self._started: dict[str, _Opening] = {}
        self._synced = float("-inf")

    @property
    def active(self) -> tuple[str, ...]:
        """Ids of the recordings that run, oldest first."""
        return self._states.active()

    @property
    def needs_frame(self) -> bool:
        """True if a recording cannot begin before ``add_frame`` is called."""
        return bool(self._openings) and self._scheduler is None

    @property
    def fps(self) -> int:
        """Largest number of frames a second that the engine needs."""
        level = self._scheduler.level if self._scheduler is not None else 0
        return self._frame_rate.fps(QUALITY_LEVELS[level].fps)

    def knows(self, recording_id: str) -> bool:
        """Return True if the recording was started on this engine."""
        return self._states.state(recording_id) is not None

    def start(self, recording_id: str, label: str, now: float) -> None:
        """Begin a recording; this is a no-op if the recording is active.

        Raises:
            TooManyRecordings: If all slots are in use.
            DiskFull: If there is less free space than a start requires.
            RecordingFailed: If the encoder or the file cannot be opened.
        """
        session_number = 0
        if recording_id not in self.active:
            # The check comes before any change of state: a refused start leaves no trace.
            self._require_room()
            earlier = self._catalog.parts(recording_id)
            session_number = 1 + max((part.session_number for part in earlier), default=0)
        if not self._states.start(recording_id, now):
            return
        self._started[recording_id] = _Opening(recording_id, label, session_number, 0)
        self._openings.append(self._started[recording_id])
        self._join(now)

    def stop(self, recording_id: str, now: float, reason: EndReason) -> None:
        """End a recording; this is a no-op if the recording has ended.

        Raises:
            UnknownRecording: If the id was never started on this engine.
        """
        if self._states.stop(recording_id):
            self._end((recording_id,), now, reason)

    def stop_all(self, now: float, reason: EndReason) -> None:
        """End all active recordings."""
        names = self.active
        for name in names:
            self._states.stop(name)
        self._end(names, now, reason)

    def forget(self, recording_id: str) -> None:
        """Remove a recording that was deleted or could not begin."""
        self._states.forget(recording_id)
        self._started.pop(recording_id, None)

    def add_step(self, step: Step, now: float) -> None:
        """Add a step to all recordings; it resumes the resting ones."""
        # The clock of the reporting service may be ahead of ours.
        started, ended = min(step.started, now), min(step.ended, now)
        self._acted(now)
        # Both ends of the step are input: its effects on the screen may follow either.
        self._significance.input(started)
        self._significance.input(ended)
        self._frame_rate.input(ended)
        if self._scheduler is not None:
            self._scheduler.activity(started)
            self._scheduler.activity(ended, step=True)
        self._write(step)

    def human_input(self, at: float) -> None:
        """Record input of a person at ``at``; a period of it becomes a step."""
        self.input(at)
        self._write(self._human_activity.input(at))

    def input(self, at: float) -> None:
        """Record input of an agent or a person at ``at``."""
        self._acted(at)
        self._significance.input(at)
        self._frame_rate.input(at)
        if self._scheduler is not None:
            self._scheduler.activity(at)

    def add_damage(self, damage: RecentDamage) -> None:
        """Record the damage since the last call, before the frame that shows it."""
        if self._scheduler is None:
            return
        self._scheduler.unchecked_since = damage.unchecked_since
        for at, regions in damage.reports:
            self._frame_rate.painted(at)
            if self._significance.reported(regions, at):
                self._scheduler.activity(at)

    def add_frame(self, frame: CapturedFrame) -> None:
        """Encode a new frame of the desktop and begin the waiting files with it.

        Raises:
            RecordingFailed: If the encoder fails; all recordings have ended then.
        """
        if not self.active:
            return
        self._frame_rate.painted(frame.time)
        # A frame without damage shows a moved pointer, which counts as input.
        if not frame.regions:
            self.input(frame.time)
        significant = self._significance.of_frame(frame)
        try:
            scheduler = self._scheduler_for(frame)
            # All files share one encoder, so the level is the best that any of them still needs.
            level = shared_level([writer.budget.level for writer in self._writers.values()])
            if self._writers and level != scheduler.level:
                scheduler.set_level(level)
            encoded = scheduler.encode(frame, significant=significant, key=bool(self._openings))
        except RecordingFailed:
            self.stop_all(frame.time, "failed")
            raise
        if encoded is not None:
            self._open(encoded)
            offer_thumbnail(self._writers.values(), frame)

    def tick(self, now: float) -> None:
        """Write the frames that are due; close files that are full, rest or have no room.

        Raises:
            RecordingFailed: If the encoder fails; all recordings have ended then.
        """
        # Frames come first, because the checks below depend on the sizes of the files.
        self.write_due(now)
        if self._scheduler is None:
            return
        try:
            self._scheduler.repeat_if_silent(now)
        except RecordingFailed:
            self.stop_all(now, "failed")
            raise
        self._write(self._human_activity.ended(now))
        self._end(self._states.rest(now), now, "idle")
        for name, writer in list(self._writers.items()):
            if writer.budget.full:
                self._next_part(name, writer, now)
        self._extend_maps()
        if now >= self._synced + self._settings.sync_every:
            self._sync(now)

    def write_due(self, now: float) -> None:
        """Write the frames that are due, for example before the next one is encoded."""
        if self._scheduler is not None:
            self._deliver(self._scheduler.due(now))

    def deadline(self) -> float | None:
        """Return the time at which ``tick`` has to be called if there is no other event."""
        scheduled = self._scheduler.deadline() if self._scheduler is not None else None
        moments = [m for m in (scheduled, self._states.next_rest()) if m is not None]
        return min(moments, default=None)

    def _write(self, step: Step | None) -> None:
        if step is not None:
            self._each(lambda writer: writer.add_step(step))

    def _each(self, work: Callable[[PartWriter], None]) -> None:
        """Apply ``work`` to every writer; an error ends the recording of that writer."""
        # A copy, because `_fail` removes the writer from the dict.
        for name, writer in list(self._writers.items()):
            try:
                work(writer)
            except (OSError, RecordingError) as error:
                self._fail(name, error)

    def _acted(self, now: float) -> None:
        self._openings += [self._started[name] for name in self._states.activity(now)]
        self._join(now)

    def _join(self, now: float) -> None:
        if self._openings and self._scheduler is not None:
            # The newest frame is encoded again as a keyframe, so a file can begin on an idle
            # screen.
            encoded = self._scheduler.repeat(now, key=True)
            if encoded is not None:
                self._open(encoded)

    def _scheduler_for(self, frame: CapturedFrame) -> FrameScheduler:
        if self._scheduler is None:
            height, width = frame.pixels.shape[:2]
            level = min((opening.level for opening in self._openings), default=0)
            self._scheduler = FrameScheduler(self._settings, (width, height), level)
            self._scheduler.open()
            self._synced = frame.time
        return self._scheduler

    def _open(self, encoded: EncodedFrame) -> None:
        openings, self._openings = self._openings, []
        for opening in openings:
            try:
                self._writers[opening.recording_id] = self._part_writer(opening, encoded.at)
            except (OSError, RecordingFailed) as error:
                self.forget(opening.recording_id)
                logger.error("recording %s cannot be written: %s", opening.recording_id, error)
        self._close_unused_scheduler()

    def _part_writer(self, opening: _Opening, origin: float) -> PartWriter:
        if self._scheduler is None:
            raise RecordingFailed("no picture yet")
        part = Part(
            recording_id=opening.recording_id,
            index=self._catalog.next_index(opening.recording_id),
            session_number=opening.session_number,
            label=opening.label,
            started_at=self._since_1970 + origin,
        )
        return PartWriter(
            part,
            self._catalog,
            self._scheduler.template,
            origin=origin,
            cap=self._settings.largest_file,
            level=opening.level,
        )

    def _deliver(self, frames: Iterable[TimestampedFrame]) -> None:
        for frame in frames:
            self._each(partial(PartWriter.write, encoded=frame.encoded, stamp=frame.stamp))

    def _fail(self, name: str, error: Exception) -> None:
        logger.error("recording %s ended: %s", name, error)
        self._states.stop(name)
        full = isinstance(error, DiskFull) or no_room(error)
        self._close(name, "disk_full" if full else "failed")
        self._close_unused_scheduler()

    def _end(self, names: tuple[str, ...], now: float, reason: EndReason) -> None:
        self._openings = [o for o in self._openings if o.recording_id not in names]
        if names:
            self._finish(names, now, reason)
            self._close_unused_scheduler()

    def _finish(self, names: tuple[str, ...], now: float, reason: EndReason) -> None:
        if self._scheduler is None:
            return
        try:
            # The last frame is repeated, so that the video ends at the moment of the stop.
            self._scheduler.repeat(now)
        except RecordingFailed as error:
            logger.error("the last picture is missing: %s", error)
        self._deliver(self._scheduler.finish(now))
        self._write(self._human_activity.finish())
        for name in names:
            self._close(name, reason)

    def _close(self, name: str, reason: EndReason) -> None:
        writer = self._writers.pop(name, None)
        if writer is not None and self._scheduler is not None:
            try:
                writer.extend_map(*self._scheduler.time_map(writer.map_end))
            except OSError as error:
                logger.warning("the journal of recording %s lacks its end: %s", name, error)
            part = writer.close(reason)
            self._on_closed(self._catalog.paths(name, part.index).video)

    def _next_part(self, name: str, writer: PartWriter, now: float) -> None:
        self._finish((name,), now, "cap")
        # Closing a file may have ended the recording, for example on a full disk.
        if name in self.active:
            self._openings.append(
                _Opening(name, writer.part.label, writer.part.session_number, NEXT_PART)
            )
            self._join(now)

    def _close_unused_scheduler(self) -> None:
        if not self._writers and not self._openings and self._scheduler is not None:
            self._scheduler.close()
            self._scheduler = None
            # The screen was not observed in between, so its periodic changes are learned anew.
            self._significance = SignificanceFilter()

    def _extend_maps(self) -> None:
        scheduler = self._scheduler
        if scheduler is None:
            return

        def extend_map(writer: PartWriter) -> None:
            time_map, until = scheduler.time_map(writer.map_end)
            if until >= writer.map_end + MAP_INTERVAL:
                writer.extend_map(time_map, until)

        self._each(extend_map)
        # The scheduler keeps only the part of the map that some writer has not read yet.
        scheduler.forget(min((r.map_end for r in self._writers.values()), default=0.0))

    def _sync(self, now: float) -> None:
        self._synced = now
        self._each(PartWriter.sync)
        try:
            disk = shutil.disk_usage(self._catalog.folder)
        except OSError as error:
            logger.error("the folder of the recordings is lost: %s", error)
            self.stop_all(now, "failed")
            return
        if self._writers and disk.free < self._settings.to_go_on.bytes_of(disk.total):
            self.stop_all(now, "disk_full")

    def _require_room(self) -> None:
        self._catalog.folder.mkdir(parents=True, exist_ok=True)
        disk = shutil.disk_usage(self._catalog.folder)
        needed = self._settings.to_start.bytes_of(disk.total)
        if disk.free < needed:
            raise DiskFull(disk.free, needed)
