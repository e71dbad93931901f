"""The recorder: one thread that owns all recordings of a desktop.

Callers leave requests in its mailbox and wait for the answer; a second thread waits for the next
picture and leaves it there too, never more than one ahead. So nothing is shared and nothing is
locked, and an idle desktop wakes nobody.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol

from .catalogue import Catalogue, Paths, checked
from .errors import FeedEnded, RecorderClosed, RecordingError, RecordingFailed, StillRecording
from .parts import EndReason
from .settings import RecordingSettings
from .shots import Feed, Shot, Source
from .steps import Step
from .studio import Studio

logger = logging.getLogger(__name__)

LONGEST_NAP = 5.0
"""Seconds; a clock that jumped is noticed after this."""

FIRST_SHOT = 5.0
"""Seconds in which a display must show its first picture."""

FEED_PATIENCE = 2.0
"""Seconds after which the picture thread looks whether it is still wanted."""

TOUCHES_APART = 0.1
"""Seconds; a moving mouse reports itself a hundred times a second."""


class Clock(Protocol):
    """What time it is."""

    def now(self) -> float:
        """Seconds, monotonic, the clock of the shots."""

    def since_1970(self) -> float:
        """Seconds of the calendar."""


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    def since_1970(self) -> float:
        """Calendar seconds."""
        return time.time()


@dataclass(frozen=True)
class Stored:
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
    """

    def __init__(
        self,
        source: Source,
        folder: Path,
        settings: RecordingSettings | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._source = source
        self._clock = clock or SystemClock()
        self._catalogue = Catalogue(folder)
        offset = self._clock.since_1970() - self._clock.now()
        self._studio = Studio(self._catalogue, settings or RecordingSettings(), offset)
        self._offset = offset
        self._mail: queue.SimpleQueue[_Request] = queue.SimpleQueue()
        self._door = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._viewfinder: _Viewfinder | None = None
        self._touched = float("-inf")
        self._retired: list[_Viewfinder] = []
        self._active: tuple[str, ...] = ()

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

        self._ask(begin)

    def stop(self, recording_id: str, end_reason: EndReason = "completed") -> Stored:
        """End a recording; its files play when this returns. Repeatable.

        Raises:
            InvalidRecordingId, UnknownRecording, RecorderClosed
        """
        name = checked(recording_id)

        def end() -> None:
            if self._studio.knows(name):
                self._studio.stop(name, self._clock.now(), end_reason)

        self._ask(end)
        return self._stored(name)

    def delete(self, recording_id: str) -> None:
        """Remove the files of a recording that has ended.

        Raises:
            InvalidRecordingId, UnknownRecording, StillRecording, RecorderClosed
        """
        name = checked(recording_id)

        def remove() -> None:
            if name in self._studio.active:
                raise StillRecording(name)
            self._catalogue.delete(name)
            self._studio.forget(name)

        self._ask(remove)

    def note(self, step: Step) -> None:
        """A step of all recordings, its times on the monotonic clock. Does not wait."""
        self._tell(lambda: self._studio.note(step, self._clock.now()))

    def note_from_elsewhere(self, step: Step) -> None:
        """A step whose times are seconds since 1970. Does not wait."""
        self.note(step.moved(-self._offset))

    def touch(self) -> None:
        """Somebody moves or types just now. Does not wait; call it as often as you like."""
        now = self._clock.now()
        if now < self._touched + TOUCHES_APART:
            return
        self._touched = now
        self._tell(lambda: self._studio.touch(now))

    def active(self) -> tuple[str, ...]:
        """Ids of the recordings that run."""
        return self._active

    def open(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Close the files of all recordings and end; twice is fine."""
        with suppress(RecorderClosed):
            self._tell(lambda: self._studio.stop_all(self._clock.now(), "closed"))
            self._mail.put(_END)
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

    def _stored(self, name: str) -> Stored:
        parts = self._catalogue.take(name)
        files = [self._catalogue.paths(name, part.index) for part in parts]
        return Stored(
            recording_id=name,
            end_reason=parts[-1].end_reason,
            complete=all(part.complete for part in parts),
            videos=tuple(paths.video for paths in files),
            thumbnail=_first_thumbnail(files),
        )

    def _ask(self, work: Callable[[], None]) -> None:
        """Have the thread do something and wait for it."""
        answer: Future[None] = Future()
        self._tell(work, answer)
        try:
            answer.result()
        except CancelledError as error:
            raise RecorderClosed from error

    def _tell(self, work: Callable[[], None], answer: Future[None] | None = None) -> None:
        with self._door:
            if self._closed:
                raise RecorderClosed
            self._mail.put(_Request(work, answer))

    def _run(self) -> None:
        try:
            while (request := self._next()) is not _END:
                if request is not None:
                    request.answer_with(self._tend)
                self._studio.tick(self._clock.now())
                self._look_after()
        finally:
            self._shut()

    def _next(self) -> "_Request | None":
        """The next request; None when it is time to tick."""
        deadline = self._studio.deadline()
        nap = None if deadline is None else max(0.0, deadline - self._clock.now())
        try:
            return self._mail.get(timeout=None if nap is None else min(nap, LONGEST_NAP))
        except queue.Empty:
            return None

    def _look_after(self) -> None:
        try:
            self._tend()
        except RecordingError as error:
            logger.error("recording cannot go on: %s", error)

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

    def _retire(self, viewfinder: "_Viewfinder") -> None:
        viewfinder.close()
        self._retired = [one for one in self._retired if one.alive] + [viewfinder]

    def _looking(self) -> "_Viewfinder":
        feed = self._source.subscribe()
        try:
            first = feed.take(FIRST_SHOT)
            if first is None:
                raise RecordingFailed("the display shows nothing")
            self._studio.shot(first)
        except RecordingError:
            feed.close()
            raise
        viewfinder = _Viewfinder(feed, self._clock)
        viewfinder.open(
            lambda shot: self._post(lambda: self._saw(viewfinder, shot)),
            lambda: self._post(lambda: self._lost(viewfinder)),
        )
        viewfinder.want(first.time + 1 / self._studio.fps)
        return viewfinder

    def _post(self, work: Callable[[], None]) -> None:
        # A picture that comes while the recorder closes is nobody's.
        with suppress(RecorderClosed):
            self._tell(work)

    def _saw(self, viewfinder: "_Viewfinder", shot: Shot) -> None:
        if viewfinder is self._viewfinder:
            self._studio.shot(shot)
            viewfinder.want(shot.time + 1 / self._studio.fps)

    def _lost(self, viewfinder: "_Viewfinder") -> None:
        if viewfinder is self._viewfinder:
            self._studio.stop_all(self._clock.now(), "display_lost")

    def _shut(self) -> None:
        with self._door:
            self._closed = True
        while not self._mail.empty():
            self._mail.get().refuse()
        self._active = ()
        if self._viewfinder is not None:
            self._retire(self._viewfinder)
        for viewfinder in self._retired:
            viewfinder.join()


@dataclass(frozen=True)
class _Request:
    work: Callable[[], None]
    answer: "Future[None] | None" = None
    """None when nobody waits for it."""

    def answer_with(self, afterwards: Callable[[], None]) -> None:
        """Do the work and what must follow it before the caller may go on."""
        try:
            self.work()
            afterwards()
            if self.answer is not None:
                self.answer.set_result(None)
        except (RecordingError, OSError) as error:
            if self.answer is None:
                logger.error("recording is disturbed: %s", error)
            else:
                self.answer.set_exception(error)
        finally:
            self.refuse()

    def refuse(self) -> None:
        """Let the caller go on without an answer; nothing if there was one."""
        if self.answer is not None:
            self.answer.cancel()


_END = _Request(lambda: None)


class _Viewfinder:
    """Waits for pictures in a thread of its own, one at a time, when they are wanted."""

    def __init__(self, feed: Feed, clock: Clock) -> None:
        self._feed = feed
        self._clock = clock
        self._not_before: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def alive(self) -> bool:
        """Whether the thread runs still."""
        return self._thread is not None and self._thread.is_alive()

    def open(self, saw: Callable[[Shot], None], lost: Callable[[], None]) -> None:
        """Begin to wait for ``want``."""
        self._thread = threading.Thread(
            target=self._run, args=(saw, lost), name="viewfinder", daemon=True
        )
        self._thread.start()

    def want(self, not_before: float) -> None:
        """Ask for the next picture, looked for at ``not_before`` at the earliest."""
        self._not_before.put(not_before)

    def close(self) -> None:
        """Look no longer; does not wait for the thread."""
        self._ended.set()
        self._not_before.put(0.0)
        self._feed.close()

    def join(self) -> None:
        """Wait for the thread."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, saw: Callable[[Shot], None], lost: Callable[[], None]) -> None:
        try:
            while True:
                pause = self._not_before.get() - self._clock.now()
                if self._ended.wait(max(0.0, pause)):
                    return
                shot = None
                while shot is None and not self._ended.is_set():
                    shot = self._feed.take(FEED_PATIENCE)
                if shot is not None:
                    saw(shot)
        except FeedEnded:
            lost()


def _first_thumbnail(files: list[Paths]) -> Path | None:
    return next((paths.thumbnail for paths in files if paths.thumbnail.exists()), None)
