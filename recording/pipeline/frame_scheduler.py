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
from deskhand.recording.video.encoder import EncodedFrame, Encoder, Template, parameter_sets

APART = 0.002
"""Seconds between two frames at least; two could share a millisecond otherwise."""


class TimestampedFrame(NamedTuple):
    """A frame whose place in the desktop's video is certain."""

    encoded: EncodedFrame
    stamp: int
    """Milliseconds."""


class FrameScheduler:
    """Runs while at least one recording does. Times are seconds on the shots' clock."""

    def __init__(self, settings: RecordingSettings, size: tuple[int, int], level: int) -> None:
        self._settings = settings
        self._size = size
        self._level = level
        self._encoder = Encoder(size, QUALITY_LEVELS[level], settings.bits_per_second)
        self._timeline: Timeline | None = None
        self._waiting: deque[EncodedFrame] = deque()
        self._held: CapturedFrame | None = None
        self._uncoded_changes: tuple[Rectangle, ...] | None = ()
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
    def level(self) -> int:
        """The quality in use."""
        return self._level

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

    def encode(self, frame: CapturedFrame, *, significant: bool, key: bool) -> EncodedFrame | None:
        """Code a shot, or hold it back if nobody would see it."""
        at = self._after_last(frame.time)
        if self._timeline is None:
            self._timeline = Timeline(at, self._settings.squeeze)
        if significant:
            self._timeline.activity(at)
            self._encode_held(at)
        self._uncoded_changes = joined(self._uncoded_changes, frame.changed)
        if not significant and not key and self._vanishes(self._timeline, at):
            self._held = frame
            return None
        self._held = None
        return self._encode(frame, at, key=key)

    def repeat(self, at: float, *, key: bool = False) -> EncodedFrame | None:
        """Code the newest picture once more, so that a file can begin or end at ``at``.

        None if the last frame is as good as that.
        """
        if not key and at < self._last + APART:
            return None
        at = self._after_last(at)
        if self._timeline is not None:
            self._timeline.activity(at)
        held, self._held = self._held, None
        return self._encode(held, at, key=key)

    def set_level(self, level: int) -> None:
        """Go on in another quality, from the next frame on.

        Raises:
            RecordingFailed: If the streams would not fit together.
        """
        following = Encoder(self._size, QUALITY_LEVELS[level], self._settings.bits_per_second)
        following.open()
        if parameter_sets(following.stream) != parameter_sets(self._encoder.stream):
            following.close()
            raise RecordingFailed("two qualities have different headers")
        self._encoder.close()
        self._encoder, self._level, self._key_wanted = following, level, True

    def due(self, now: float) -> list[TimestampedFrame]:
        """The frames whose place is certain at ``now``; in silence the last picture once more."""
        if self._timeline is None:
            return []
        self._timeline.settle(now)
        if not self._silent and now >= self._last + self._settings.repeat_after:
            self._silent = True
            if not self._vanishes(self._timeline, now):
                self._encode(None, now, key=False)
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

    def time_map(self, since: float) -> tuple[TimeMap, float]:
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

    def _encode_held(self, at: float) -> None:
        """Activity at ``at`` gives the moments just before it their place in the video back."""
        held, self._held = self._held, None
        if held is None or at - held.time > self._settings.squeeze.margin:
            return
        before = self._after_last(held.time)
        if before + APART <= at:
            self._encode(held, before, key=False)

    def _encode(self, frame: CapturedFrame | None, at: float, *, key: bool) -> EncodedFrame | None:
        key = key or self._key_due(at)
        if frame is None:
            encoded = self._encoder.repeat(at, key=key)
        else:
            encoded = self._encoder.encode(
                frame.pixels, at, key=key, changed=self._uncoded_changes, overlay=frame.overlay
            )
            self._uncoded_changes = ()
        if encoded is None:
            return None
        self._waiting.append(encoded)
        self._last = at
        self._silent = False
        if encoded.key:
            self._key_video = self._timeline.video(at) if self._timeline is not None else 0.0
            self._key_wanted = self._step_noted = False
        return encoded

    def _key_due(self, at: float) -> bool:
        gone = (self._timeline.video(at) if self._timeline is not None else 0.0) - self._key_video
        after_step = self._step_noted and gone >= self._settings.step_key_apart
        return self._key_wanted or after_step or gone >= self._settings.key_every

    def _ready(self, timeline: Timeline) -> list[TimestampedFrame]:
        ready = []
        while self._waiting and self._waiting[0].at <= timeline.horizon:
            encoded = self._waiting.popleft()
            # A coded frame is never left out: those after it build on it.
            stamp = max(round(timeline.video(encoded.at) * 1000), self._last_stamp + 1)
            self._last_stamp = stamp
            ready.append(TimestampedFrame(encoded, stamp))
        return ready
