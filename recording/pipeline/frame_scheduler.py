"""Captured frames to encoded frames with time stamps.

All recordings of a desktop share one scheduler, with one encoder and one timeline. A captured frame
takes one of three ways:

    encoded    at once, then it waits until its time in the video is fixed (see ``timeline``), and
               ``due`` returns it with its time stamp in milliseconds
    held       if it is not significant and would share its millisecond of video with the frame
               before (a caret that blinks for an hour); the newest held frame replaces the older
    encoded    later, if activity follows within the margin, which plays at normal speed again

Invariants: time stamps increase strictly, by at least 1 ms; an encoded frame is never dropped,
because later ones refer to it; the changed regions of held frames accumulate, so that the encoder
converts all of them with the next frame. After ``repeat_after`` without damage the last frame is
repeated once (a dup frame), so that players and muxers do not hold it back.

The time map is not fixed beyond damage whose pixels were not captured yet, because it may be
activity: a frame that is late must not make the time before it idle. After ``CHECK_WITHIN`` such
damage counts as changed, so that a busy machine delays the writing of frames by that time at most.
"""

from collections import deque
from math import inf
from typing import NamedTuple

from deskhand.recording.errors import RecordingFailed
from deskhand.recording.ports import CapturedFrame, Rectangle, joined
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.timing.timeline import Timeline, TimeMap
from deskhand.recording.video.encoder import EncodedFrame, Encoder, Template, parameter_sets

CHECK_WITHIN = 0.5
"""Seconds within which the pixels of damage must be captured, or it counts as a change of them. An
animation at five frames a second is captured every 0.2 s."""

APART = 0.002
"""Smallest distance of two frames in seconds; with less they could share a millisecond."""


class TimestampedFrame(NamedTuple):
    """Encoded frame whose time in the video of the desktop is fixed."""

    encoded: EncodedFrame
    stamp: int
    """Time stamp in milliseconds of video."""


class FrameScheduler:
    """Encoder and timeline of a desktop while at least one recording is active.

    Times are seconds on the clock of the captured frames.
    """

    def __init__(self, settings: RecordingSettings, size: tuple[int, int], level: int) -> None:
        self._settings = settings
        self._size = size
        self._level = level
        self._encoder = self._encoder_of(level)
        self._timeline: Timeline | None = None
        self._waiting: deque[EncodedFrame] = deque()
        self._held: CapturedFrame | None = None
        self._uncoded_changes: tuple[Rectangle, ...] | None = ()
        """Regions in which the newest frame may differ from the last encoded one; None: anywhere.
        """
        self._last = -inf
        self._last_stamp = -1
        self._key_video = 0.0
        self._key_wanted = True
        self._step_noted = False
        self._silent = True
        self.unchecked_since = inf
        """Time of the oldest damage whose pixels were not captured yet."""

    @property
    def template(self) -> Template:
        """Stream from which a file copies its parameter sets."""
        return self._encoder.stream

    @property
    def level(self) -> int:
        """Index of the quality level in use."""
        return self._level

    def open(self) -> None:
        """Start the encoder."""
        self._encoder.open()

    def close(self) -> None:
        """Close the encoder; idempotent."""
        self._encoder.close()

    def activity(self, at: float, *, step: bool = False) -> None:
        """Record activity at ``at``; after a step the next frame may become a keyframe."""
        if self._timeline is not None:
            self._timeline.activity(at)
        self._step_noted = self._step_noted or step

    def encode(self, frame: CapturedFrame, *, significant: bool, key: bool) -> EncodedFrame | None:
        """Encode a frame; return None if it is held, because the video would not show it."""
        at = self._after_last(frame.time)
        if self._timeline is None:
            self._timeline = Timeline(at, self._settings.squeeze)
        if significant:
            self._timeline.activity(at)
            # The held frame precedes this one, so its encoding must not include this frame's
            # changes.
            self._encode_held(at)
        self._uncoded_changes = joined(self._uncoded_changes, frame.changed)
        if not significant and not key and self._vanishes(self._timeline, at):
            self._held = frame
            return None
        self._held = None
        return self._encode(frame, at, key=key)

    def repeat(self, at: float, *, key: bool = False) -> EncodedFrame | None:
        """Encode the newest frame once more, so that a file can begin or end at ``at``.

        Return None if the last encoded frame is close enough.
        """
        if not key and at < self._last + APART:
            return None
        at = self._after_last(at)
        if self._timeline is not None:
            self._timeline.activity(at)
        held, self._held = self._held, None
        return self._encode(held, at, key=key)

    def set_level(self, level: int) -> None:
        """Change the quality level, from the next frame on, which becomes a keyframe.

        Raises:
            RecordingFailed: If the parameter sets of the two levels differ.
        """
        following = self._encoder_of(level)
        # The new encoder opens before the old one closes, because their parameter sets are
        # compared.
        following.open()
        if parameter_sets(following.stream) != parameter_sets(self._encoder.stream):
            following.close()
            raise RecordingFailed("two qualities have different headers")
        self._encoder.close()
        self._encoder, self._level, self._key_wanted = following, level, True

    def due(self, now: float) -> list[TimestampedFrame]:
        """Return the frames whose time is fixed at ``now``."""
        if self._timeline is None:
            return []
        self._timeline.settle(min(now, self.unchecked_since))
        return self._ready(self._timeline)

    def repeat_if_silent(self, now: float) -> None:
        """Repeat the last frame once if there was no damage for ``repeat_after``."""
        # Unchecked damage is followed by a frame or, if the pixels are the same, by nothing.
        if self._timeline is None or self.unchecked_since < inf:
            return
        if not self._silent and now >= self._last + self._settings.repeat_after:
            self._silent = True
            # A dup frame without a millisecond of its own would extend nothing.
            if not self._vanishes(self._timeline, now):
                self._encode(None, now, key=False)
                # `_encode` resets the flag, but a dup frame is not damage.
                self._silent = True

    def finish(self, at: float) -> list[TimestampedFrame]:
        """Fix the time map up to ``at`` and return all frames."""
        if self._timeline is None:
            return []
        self._timeline.finish(max(at, self._last))
        return self._ready(self._timeline)

    def deadline(self) -> float | None:
        """Return the time of the next work, if no frame comes before; None if there is none."""
        moments = []
        # APART is added because (a + b) - b may be less than a in floating point.
        checked = self.unchecked_since + CHECK_WITHIN + APART
        if self._waiting:
            fixed = self._waiting[0].at + self._settings.squeeze.margin + APART
            moments.append(fixed if fixed <= self.unchecked_since else max(fixed, checked))
        if not self._silent:
            silent = self._last + self._settings.repeat_after
            moments.append(silent if self.unchecked_since == inf else max(silent, checked))
        return min(moments, default=None)

    def time_map(self, since: float) -> tuple[TimeMap, float]:
        """Return the fixed part of the time map from ``since`` on, and its end."""
        if self._timeline is None:
            return TimeMap(((0.0, 0.0),)), since
        return self._timeline.between(since, self._timeline.horizon), self._timeline.horizon

    def forget(self, before: float) -> None:
        """Drop the time map before ``before``, as far as no waiting frame needs it."""
        if self._timeline is not None:
            waiting = self._waiting[0].at if self._waiting else self._last
            self._timeline.forget(min(before, waiting, self._last))

    def _encoder_of(self, level: int) -> Encoder:
        settings = self._settings
        return Encoder(
            self._size, QUALITY_LEVELS[level], settings.bits_per_second, settings.encoder
        )

    def _after_last(self, at: float) -> float:
        return max(at, self._last + APART)

    def _vanishes(self, timeline: Timeline, at: float) -> bool:
        return round(timeline.video(at) * 1000) <= round(timeline.video(self._last) * 1000)

    def _encode_held(self, at: float) -> None:
        """Encode the held frame if activity at ``at`` makes its moment visible in the video."""
        held, self._held = self._held, None
        # A frame older than the margin plays at the idle speed and stays invisible.
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
        # Distances are measured in video time, because players seek in video time.
        gone = (self._timeline.video(at) if self._timeline is not None else 0.0) - self._key_video
        after_step = self._step_noted and gone >= self._settings.step_key_apart
        return self._key_wanted or after_step or gone >= self._settings.key_every

    def _ready(self, timeline: Timeline) -> list[TimestampedFrame]:
        ready = []
        while self._waiting and self._waiting[0].at <= timeline.horizon:
            encoded = self._waiting.popleft()
            # P-frames refer to the frame before, so none may be dropped, even on one millisecond.
            stamp = max(round(timeline.video(encoded.at) * 1000), self._last_stamp + 1)
            self._last_stamp = stamp
            ready.append(TimestampedFrame(encoded, stamp))
        return ready
