"""Recorder: one thread that owns all recordings of a desktop.

Threads:

    callers        queue commands and wait for their results
    recorder       runs the commands, and the engine, encoder and files with them
    frame reader   waits for the next frame and queues it as a command; never more than one ahead
    faststart      rewrites closed files in the background

The recorder's thread is the only one that uses the engine, so the engine needs no locks. It sleeps
until the next command or the deadline of the engine: an idle desktop causes no wake-ups.

The frame reader exists exactly while a recording is active. A command that starts or stops a
recording opens or closes it before its caller receives the result, so ``start`` returns with the
first frame in the file. A closed reader may still deliver one frame; frames of any reader but the
current one are ignored. Errors of one recording end that recording, and the loss of the display
ends all of them, but the thread goes on until ``close``.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal

from deskhand.recording.errors import RecordingError, RecordingFailed, StillRecording
from deskhand.recording.library.catalog import Catalog, Paths, checked
from deskhand.recording.library.faststart import FastStart
from deskhand.recording.library.metadata import EndReason
from deskhand.recording.ports import CapturedFrame, Source
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.step import Step

from .clocks import Clock, SystemClock
from .command_queue import END, Command, CommandQueue
from .engine import RecordingEngine
from .frame_reader import FrameReader
from .frame_scheduler import CHECK_WITHIN

logger = logging.getLogger(__name__)

MAX_WAIT = 5.0
"""Longest sleep in seconds; a clock that jumped (suspend) is noticed after this time."""

FIRST_FRAME_TIMEOUT = 5.0
"""Seconds in which a display must deliver its first frame."""

ACTIVITY_INTERVAL = 0.1
"""Shortest distance of two reports in seconds; a moving mouse sends a hundred events a second."""


@dataclass(frozen=True)
class StoredRecording:
    """Recording that has ended; its files are closed."""

    recording_id: str
    end_reason: EndReason | None
    complete: bool
    videos: tuple[Path, ...]
    """Videos of the parts, oldest first."""
    thumbnail: Path | None


class Recorder:
    """Records a display; a context manager that starts and ends the threads.

    All methods may be called from any thread; they block for as long as the work takes.
    ``mask`` removes secrets from the texts of steps before the recorder writes them anywhere.
    """

    def __init__(
        self,
        source: Source,
        folder: Path,
        settings: RecordingSettings | None = None,
        clock: Clock | None = None,
        mask: Callable[[str], str] = str,
    ) -> None:
        self._source = source
        self._mask = mask
        self._clock = clock or SystemClock()
        self._catalog = Catalog(folder)
        # Fixed once: a calendar clock that is set later must not reorder the parts of a recording.
        offset = self._clock.since_1970() - self._clock.now()
        self._fast_start = FastStart()
        self._engine = RecordingEngine(
            self._catalog, settings or RecordingSettings(), offset, self._fast_start.put
        )
        self._offset = offset
        self._commands = CommandQueue()
        # A daemon thread, so that a program that never calls `close` can still exit.
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._reader: FrameReader | None = None
        self._last_activity: dict[str, float] = {}
        self._closed_readers: list[FrameReader] = []
        self._active: tuple[str, ...] = ()
        self._fps = 0

    def start(self, recording_id: str, label: str = "") -> None:
        """Begin a recording; its file contains the current frame when this returns.

        This is a no-op for an active recording; a stopped one begins a new session.

        Raises:
            InvalidRecordingId, TooManyRecordings, DiskFull, RecordingFailed, RecorderClosed
        """
        name = checked(recording_id)

        def begin() -> None:
            self._engine.start(name, label, self._clock.now())
            self._update_reader()
            # The first frame of the reader begins the file, and only then is it known that the
            # start worked.
            if name not in self._engine.active:
                raise RecordingFailed("the display or the disk refused")

        self._commands.call(begin)

    def stop(self, recording_id: str, end_reason: EndReason = "completed") -> StoredRecording:
        """End a recording; its files are closed when this returns. Idempotent.

        Raises:
            InvalidRecordingId, UnknownRecording, RecorderClosed
        """
        name = checked(recording_id)

        def end() -> None:
            # A recording of an earlier service is unknown to the engine; its files are closed
            # already.
            if self._engine.knows(name):
                # No frame of the damage until now will follow.
                self._take_damage(check_within=0.0)
                self._engine.stop(name, self._clock.now(), end_reason)

        self._commands.call(end)
        return self._stored(name)

    def delete(self, recording_id: str, session_number: int | None = None) -> None:
        """Remove the files of a recording that has ended, or those of one session of it.

        Raises:
            InvalidRecordingId, UnknownRecording, StillRecording, RecorderClosed
        """
        name = checked(recording_id)

        def remove() -> None:
            running = (
                self._catalog.latest_session(name)[-1].session_number
                if name in self._engine.active
                else None
            )
            if running is not None and session_number in (None, running):
                raise StillRecording(name)
            self._catalog.delete(name, session_number)
            if running is None and not self._catalog.parts(name):
                self._engine.forget(name)

        self._commands.call(remove)

    def add_step(self, step: Step) -> None:
        """Add a step to all recordings, with times on the monotonic clock. Does not wait."""
        # The masking happens in the caller's thread, so that the queue never contains a secret.
        shown = step.masked(self._mask)
        self._commands.submit(lambda: self._engine.add_step(shown, self._clock.now()))

    def add_reported_step(self, step: Step) -> None:
        """Add a step of another service, with times in seconds since 1970. Does not wait."""
        self.add_step(step.moved(-self._offset))

    def touch(self) -> None:
        """Record input of an agent at this moment. Does not wait."""
        self.note_activity("agent")

    def note_activity(self, who: Literal["agent", "human"], at: float | None = None) -> None:
        """Record input of an agent or a person at ``at`` (monotonic), by default now.

        Input plays at normal speed and keeps recordings from resting; input of a person becomes a
        step. Does not wait. Frequent calls are cheap; calls after the end are ignored.
        """
        moment = self._clock.now() if at is None else at
        if moment < self._last_activity.get(who, float("-inf")) + ACTIVITY_INTERVAL:
            return
        # Two callers at once may cause one report too many, which does not need a lock.
        self._last_activity[who] = moment
        report = self._engine.human_input if who == "human" else self._engine.input
        self._commands.submit_if_open(lambda: report(moment))

    def active(self) -> tuple[str, ...]:
        """Return the ids of the active recordings."""
        return self._active

    def open(self) -> None:
        """Start the threads; files that an earlier service closed are checked for faststart."""
        for video in self._catalog.closed():
            self._fast_start.put(video)
        self._fast_start.open()
        self._thread.start()

    def close(self) -> None:
        """Close the files of all recordings and end the threads; idempotent."""
        # Files that are closed from here on are left to the next service, so that closing is quick.
        self._fast_start.close()
        self._commands.submit_if_open(lambda: self._engine.stop_all(self._clock.now(), "closed"))
        self._commands.end()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> "Recorder":
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _stored(self, name: str) -> StoredRecording:
        parts = self._catalog.latest_session(name)
        files = [self._catalog.paths(name, part.index) for part in parts]
        return StoredRecording(
            recording_id=name,
            end_reason=parts[-1].end_reason,
            complete=all(part.complete for part in parts),
            videos=tuple(paths.video for paths in files),
            thumbnail=_first_thumbnail(files),
        )

    def _run(self) -> None:
        try:
            while (command := self._next()) is not END:
                # Before any command: a stop too needs the activity until now.
                self._take_damage()
                if command is not None:
                    command.run(self._update_reader)
                # The command refers to a frame of 8 MB, and the next one may be an hour away.
                command = None
                self._run_duties()
                self._update_pace()
        finally:
            self._shut_down()

    def _next(self) -> Command | None:
        """Return the next command; None when the engine's deadline is reached."""
        deadline = self._engine.deadline()
        wait = None if deadline is None else max(0.0, deadline - self._clock.now())
        return self._commands.next(None if wait is None else min(wait, MAX_WAIT))

    def _run_duties(self) -> None:
        for duty in (self._tick, self._update_reader):
            try:
                duty()
            except (RecordingError, OSError) as error:
                logger.error("recording cannot go on: %s", error)

    def _tick(self) -> None:
        # Again: the command may have encoded a frame, and damage has arrived meanwhile.
        self._take_damage()
        self._engine.tick(self._clock.now())

    def _take_damage(self, check_within: float = CHECK_WITHIN) -> None:
        """Pass the damage until now to the engine, however late the frames are."""
        if self._reader is not None:
            self._engine.add_damage(self._reader.damage(self._clock.now() - check_within))

    def _update_pace(self) -> None:
        """Wake the reader if input has raised the frame rate while it paused for an animation."""
        if self._reader is not None and self._engine.fps > self._fps:
            self._fps = self._engine.fps
            self._reader.skip_pause()

    def _update_reader(self) -> None:
        """Open or close the frame reader: it exists exactly while a recording is active."""
        if not self._engine.active:
            if self._reader is not None:
                self._close_reader(self._reader)
                self._reader = None
        elif self._reader is None:
            try:
                self._reader = self._open_reader()
            except RecordingError:
                self._engine.stop_all(self._clock.now(), "display_lost")
                raise
        self._active = self._engine.active

    def _close_reader(self, reader: "FrameReader") -> None:
        reader.close()
        # Not joined here: the reader may wait in the feed for up to FEED_TIMEOUT.
        self._closed_readers = [one for one in self._closed_readers if one.alive] + [reader]

    def _open_reader(self) -> "FrameReader":
        feed = self._source.subscribe()
        try:
            # The first frame is read in this thread, so that `start` returns with the frame in the
            # file.
            first = feed.next_frame(FIRST_FRAME_TIMEOUT)
            if first is None:
                raise RecordingFailed("the display shows nothing")
            self._engine.add_frame(first)
        except RecordingError:
            feed.close()
            raise
        reader = FrameReader(feed, self._clock)
        reader.open(
            lambda frame: self._commands.submit_if_open(lambda: self._add_frame(reader, frame)),
            lambda: self._commands.submit_if_open(lambda: self._end_all(reader)),
        )
        self._request_frame(reader, first)
        return reader

    def _request_frame(self, reader: "FrameReader", last: CapturedFrame) -> None:
        self._fps = self._engine.fps
        # One interval after the capture of the last frame, however long its encoding took.
        reader.request_frame(last.time + 1 / self._fps)

    def _add_frame(self, reader: "FrameReader", frame: CapturedFrame) -> None:
        if reader is self._reader:
            # Encoding may take long on a busy machine, and a kill must not lose what is due.
            self._engine.write_due(self._clock.now())
            self._engine.add_frame(frame)
            self._request_frame(reader, frame)

    def _end_all(self, reader: "FrameReader") -> None:
        if reader is self._reader:
            self._engine.stop_all(self._clock.now(), "display_lost")

    def _shut_down(self) -> None:
        self._commands.close()
        self._active = ()
        if self._reader is not None:
            self._close_reader(self._reader)
        # The feeds are closed, so every reader ends within FEED_TIMEOUT.
        for reader in self._closed_readers:
            reader.join()


def _first_thumbnail(files: list[Paths]) -> Path | None:
    return next((paths.thumbnail for paths in files if paths.thumbnail.exists()), None)
