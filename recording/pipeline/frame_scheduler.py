"""Shots to stamped frames: one encoder and one timeline for all recordings of a desktop.

A coded frame waits until its moment of the video is certain (see ``timeline``), then it is given
out with its stamp in milliseconds. A frame that would share its millisecond with the one before
(a caret that blinks for an hour) is not coded at all; the newest of these is kept at hand.
"""

from collections import deque
from typing import NamedTuple

from deskhand.recording.errors import RecordingFailed
from deskhand.recording.ports import CapturedFrame, Rectangle, joined
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.timing.timeline import Timeline, TimeMap
from deskhand.recording.video.encoder import EncodedFrame, Encoder, Template, headers

APART = 0.002
"""Seconds between two frames at least; two could share a millisecond otherwise."""


class TimestampedFrame(NamedTuple):
    """A frame whose place in the desktop's video is certain."""

    coded: EncodedFrame
    stamp: int
    """Milliseconds."""


class FrameScheduler:
    """Runs while at least one recording does. Times are seconds on the shots' clock."""

    def __init__(self, settings: RecordingSettings, size: tuple[int, int], rung: int) -> None:
        self._settings = settings
        self._size = size
        self._rung = rung
        self._encoder = Encoder(size, QUALITY_LEVELS[rung], settings.bits_per_second)
        self._timeline: Timeline | None = None
        self._waiting: deque[EncodedFrame] = deque()
        self._held: CapturedFrame | None = None
        self._unseen: tuple[Rectangle, ...] | None = ()
        """Where the newest shot may differ from the last that was coded."""
        self._last = float("-inf")
        self._last_stamp = -1
        self._key_video = 0.0
        self._key_wanted = True
        self._step_noted = False
        self._silent = True

    @property
    def template(self) -> Template:
        """What a file copies its headers from."""
        return self._encoder.stream

    @property
    def rung(self) -> int:
        """The quality in use."""
        return self._rung

    def open(self) -> None:
        """Start the encoder."""
        self._encoder.open()

    def close(self) -> None:
        """End the encoder; twice is fine."""
        self._encoder.close()

    def activity(self, at: float, *, step: bool = False) -> None:
        """Something worth seeing happened; after a step a seek point is worth its bytes."""
        if self._timeline is not None:
            self._timeline.activity(at)
        self._step_noted = self._step_noted or step

    def show(self, shot: CapturedFrame, *, tells: bool, key: bool) -> EncodedFrame | None:
        """Code a shot, or hold it back if nobody would see it."""
        at = self._after_last(shot.time)
        if self._timeline is None:
            self._timeline = Timeline(at, self._settings.squeeze)
        if tells:
            self._timeline.activity(at)
            self._show_held(at)
        self._unseen = joined(self._unseen, shot.changed)
        if not tells and not key and self._vanishes(self._timeline, at):
            self._held = shot
            return None
        self._held = None
        return self._code(shot, at, key=key)

    def again(self, at: float, *, key: bool = False) -> EncodedFrame | None:
        """Code the newest picture once more, so that a file can begin or end at ``at``.

        None if the last frame is as good as that.
        """
        if not key and at < self._last + APART:
            return None
        at = self._after_last(at)
        if self._timeline is not None:
            self._timeline.activity(at)
        held, self._held = self._held, None
        return self._code(held, at, key=key)

    def set_rung(self, rung: int) -> None:
        """Go on in another quality, from the next frame on.

        Raises:
            RecordingFailed: If the streams would not fit together.
        """
        following = Encoder(self._size, QUALITY_LEVELS[rung], self._settings.bits_per_second)
        following.open()
        if headers(following.stream) != headers(self._encoder.stream):
            following.close()
            raise RecordingFailed("two qualities have different headers")
        self._encoder.close()
        self._encoder, self._rung, self._key_wanted = following, rung, True

    def due(self, now: float) -> list[TimestampedFrame]:
        """The frames whose place is certain at ``now``; in silence the last picture once more."""
        if self._timeline is None:
            return []
        self._timeline.settle(now)
        if not self._silent and now >= self._last + self._settings.repeat_after:
            self._silent = True
            if not self._vanishes(self._timeline, now):
                self._code(None, now, key=False)
                self._silent = True
        return self._ready(self._timeline)

    def finish(self, at: float) -> list[TimestampedFrame]:
        """Make the video certain up to ``at`` and give out all frames."""
        if self._timeline is None:
            return []
        self._timeline.finish(max(at, self._last))
        return self._ready(self._timeline)

    def deadline(self) -> float | None:
        """When ``due`` is worth calling again."""
        moments = []
        if self._waiting:
            # A little later than exact: (a + b) - b may be less than a.
            moments.append(self._waiting[0].at + self._settings.squeeze.margin + APART)
        if not self._silent:
            moments.append(self._last + self._settings.repeat_after)
        return min(moments, default=None)

    def times(self, since: float) -> tuple[TimeMap, float]:
        """The certain map of times from ``since`` on, and where it ends."""
        if self._timeline is None:
            return TimeMap(((0.0, 0.0),)), since
        return self._timeline.between(since, self._timeline.horizon), self._timeline.horizon

    def forget(self, before: float) -> None:
        """Nobody will ask for times before ``before`` any more."""
        if self._timeline is not None:
            waiting = self._waiting[0].at if self._waiting else self._last
            self._timeline.forget(min(before, waiting, self._last))

    def _after_last(self, at: float) -> float:
        return max(at, self._last + APART)

    def _vanishes(self, timeline: Timeline, at: float) -> bool:
        return round(timeline.video(at) * 1000) <= round(timeline.video(self._last) * 1000)

    def _show_held(self, at: float) -> None:
        """Activity at ``at`` gives the moments just before it their place in the video back."""
        held, self._held = self._held, None
        if held is None or at - held.time > self._settings.squeeze.margin:
            return
        before = self._after_last(held.time)
        if before + APART <= at:
            self._code(held, before, key=False)

    def _code(self, shot: CapturedFrame | None, at: float, *, key: bool) -> EncodedFrame | None:
        key = key or self._key_due(at)
        if shot is None:
            coded = self._encoder.repeat(at, key=key)
        else:
            coded = self._encoder.encode(
                shot.pixels, at, key=key, changed=self._unseen, overlay=shot.overlay
            )
            self._unseen = ()
        if coded is None:
            return None
        self._waiting.append(coded)
        self._last = at
        self._silent = False
        if coded.key:
            self._key_video = self._timeline.video(at) if self._timeline is not None else 0.0
            self._key_wanted = self._step_noted = False
        return coded

    def _key_due(self, at: float) -> bool:
        gone = (self._timeline.video(at) if self._timeline is not None else 0.0) - self._key_video
        after_step = self._step_noted and gone >= self._settings.step_key_apart
        return self._key_wanted or after_step or gone >= self._settings.key_every

    def _ready(self, timeline: Timeline) -> list[TimestampedFrame]:
        ready = []
        while self._waiting and self._waiting[0].at <= timeline.horizon:
            coded = self._waiting.popleft()
            # A coded frame is never left out: those after it build on it.
            stamp = max(round(timeline.video(coded.at) * 1000), self._last_stamp + 1)
            self._last_stamp = stamp
            ready.append(TimestampedFrame(coded, stamp))
        return ready
