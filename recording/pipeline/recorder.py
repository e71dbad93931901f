"""The recorder: one thread that owns all recordings of a desktop.

Callers leave requests in its mailbox and wait for the answer; a second thread waits for the next
picture and leaves it there too, never more than one ahead. So nothing is shared and nothing is
locked, and an idle desktop wakes nobody.
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

logger = logging.getLogger(__name__)

LONGEST_NAP = 5.0
"""Seconds; a clock that jumped is noticed after this."""

FIRST_SHOT = 5.0
"""Seconds in which a display must show its first picture."""

TOUCHES_APART = 0.1
"""Seconds; a moving mouse reports itself a hundred times a second."""


@dataclass(frozen=True)
class StoredRecording:
    """A recording that has ended; its files play."""

    recording_id: str
    end_reason: EndReason | None
    complete: bool
    videos: tuple[Path, ...]
    """One file a part, oldest first."""
    thumbnail: Path | None


class Recorder:
    """Records a display; a context manager that starts and ends its thread.

    All methods may be called from any thread; they block for as long as the work takes.
    ``mask`` takes secrets out of the words of steps before they are written anywhere.
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
        self._catalogue = Catalog(folder)
        offset = self._clock.since_1970() - self._clock.now()
        self._mover = FastStart()
        self._studio = RecordingEngine(
            self._catalogue, settings or RecordingSettings(), offset, self._mover.put
        )
        self._offset = offset
        self._mail = CommandQueue()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._viewfinder: FrameReader | None = None
        self._touched: dict[str, float] = {}
        self._retired: list[FrameReader] = []
        self._active: tuple[str, ...] = ()
        self._fps = 0

    def start(self, recording_id: str, label: str = "") -> None:
        """Begin a recording; it shows at least the present picture when this returns.

        Nothing happens if it runs already; one that was stopped is begun anew.

        Raises:
            InvalidRecordingId, TooManyRecordings, DiskFull, RecordingFailed, RecorderClosed
        """
        name = checked(recording_id)

        def begin() -> None:
            self._studio.start(name, label, self._clock.now())
            self._tend()
            if name not in self._studio.active:
                raise RecordingFailed("the display or the disk refused")

        self._mail.ask(begin)

    def stop(self, recording_id: str, end_reason: EndReason = "completed") -> StoredRecording:
        """End a recording; its files play when this returns. Repeatable.

        Raises:
            InvalidRecordingId, UnknownRecording, RecorderClosed
        """
        name = checked(recording_id)

        def end() -> None:
            if self._studio.knows(name):
                self._studio.stop(name, self._clock.now(), end_reason)

        self._mail.ask(end)
        return self._stored(name)

    def delete(self, recording_id: str, take: int | None = None) -> None:
        """Remove the files of a recording that has ended, or those of one take of it.

        Raises:
            InvalidRecordingId, UnknownRecording, StillRecording, RecorderClosed
        """
        name = checked(recording_id)

        def remove() -> None:
            running = self._catalogue.take(name)[-1].take if name in self._studio.active else None
            if running is not None and take in (None, running):
                raise StillRecording(name)
            self._catalogue.delete(name, take)
            if running is None and not self._catalogue.parts(name):
                self._studio.forget(name)

        self._mail.ask(remove)

    def note(self, step: Step) -> None:
        """A step of all recordings, its times on the monotonic clock. Does not wait."""
        shown = step.masked(self._mask)
        self._mail.tell(lambda: self._studio.note(shown, self._clock.now()))

    def note_from_elsewhere(self, step: Step) -> None:
        """A step whose times are seconds since 1970. Does not wait."""
        self.note(step.moved(-self._offset))

    def touch(self) -> None:
        """Somebody moves or types just now. Does not wait; call it as often as you like."""
        self.note_activity("agent")

    def note_activity(self, who: Literal["agent", "human"], at: float | None = None) -> None:
        """Input of an agent or a person, by default now, on the monotonic clock.

        It plays at normal speed and keeps recordings from resting; what a person does becomes a
        step. Does not wait; call it as often as you like, from any thread, also after the end.
        """
        moment = self._clock.now() if at is None else at
        if moment < self._touched.get(who, float("-inf")) + TOUCHES_APART:
            return
        self._touched[who] = moment
        act = self._studio.person if who == "human" else self._studio.touch
        self._mail.post(lambda: act(moment))

    def active(self) -> tuple[str, ...]:
        """Ids of the recordings that run."""
        return self._active

    def open(self) -> None:
        """Start the threads; what an earlier service closed in a hurry is finished now."""
        for video in self._catalogue.closed():
            self._mover.put(video)
        self._mover.open()
        self._thread.start()

    def close(self) -> None:
        """Close the files of all recordings and end; twice is fine."""
        self._mover.close()
        self._mail.post(lambda: self._studio.stop_all(self._clock.now(), "closed"))
        self._mail.end()
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
        parts = self._catalogue.take(name)
        files = [self._catalogue.paths(name, part.index) for part in parts]
        return StoredRecording(
            recording_id=name,
            end_reason=parts[-1].end_reason,
            complete=all(part.complete for part in parts),
            videos=tuple(paths.video for paths in files),
            thumbnail=_first_thumbnail(files),
        )

    def _run(self) -> None:
        try:
            while (request := self._next()) is not END:
                if request is not None:
                    request.answer_with(self._tend)
                # Its picture is large, and the next request may be an hour away.
                request = None
                self._look_after()
                self._keep_pace()
        finally:
            self._shut()

    def _next(self) -> Command | None:
        """The next request; None when it is time to tick."""
        deadline = self._studio.deadline()
        nap = None if deadline is None else max(0.0, deadline - self._clock.now())
        return self._mail.next(None if nap is None else min(nap, LONGEST_NAP))

    def _look_after(self) -> None:
        for duty in (self._tick, self._tend):
            try:
                duty()
            except (RecordingError, OSError) as error:
                logger.error("recording cannot go on: %s", error)

    def _tick(self) -> None:
        self._studio.tick(self._clock.now())

    def _keep_pace(self) -> None:
        """Input ends a leisurely wait for the next picture of an animation."""
        if self._viewfinder is not None and self._studio.fps > self._fps:
            self._fps = self._studio.fps
            self._viewfinder.hurry()

    def _tend(self) -> None:
        """Look at the display exactly as long as something is recorded."""
        if not self._studio.active:
            if self._viewfinder is not None:
                self._retire(self._viewfinder)
                self._viewfinder = None
        elif self._viewfinder is None:
            try:
                self._viewfinder = self._looking()
            except RecordingError:
                self._studio.stop_all(self._clock.now(), "display_lost")
                raise
        self._active = self._studio.active

    def _retire(self, viewfinder: "FrameReader") -> None:
        viewfinder.close()
        self._retired = [one for one in self._retired if one.alive] + [viewfinder]

    def _looking(self) -> "FrameReader":
        feed = self._source.subscribe()
        try:
            first = feed.take(FIRST_SHOT)
            if first is None:
                raise RecordingFailed("the display shows nothing")
            self._studio.shot(first)
        except RecordingError:
            feed.close()
            raise
        viewfinder = FrameReader(feed, self._clock)
        viewfinder.open(
            lambda shot: self._mail.post(lambda: self._saw(viewfinder, shot)),
            lambda: self._mail.post(lambda: self._lost(viewfinder)),
        )
        self._want(viewfinder, first)
        return viewfinder

    def _want(self, viewfinder: "FrameReader", last: CapturedFrame) -> None:
        self._fps = self._studio.fps
        viewfinder.want(last.time + 1 / self._fps)

    def _saw(self, viewfinder: "FrameReader", shot: CapturedFrame) -> None:
        if viewfinder is self._viewfinder:
            self._studio.shot(shot)
            self._want(viewfinder, shot)

    def _lost(self, viewfinder: "FrameReader") -> None:
        if viewfinder is self._viewfinder:
            self._studio.stop_all(self._clock.now(), "display_lost")

    def _shut(self) -> None:
        self._mail.shut()
        self._active = ()
        if self._viewfinder is not None:
            self._retire(self._viewfinder)
        for viewfinder in self._retired:
            viewfinder.join()


def _first_thumbnail(files: list[Paths]) -> Path | None:
    return next((paths.thumbnail for paths in files if paths.thumbnail.exists()), None)
