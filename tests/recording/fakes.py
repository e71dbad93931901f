"""Fakes of a screen and its feed, which change when a test requests it."""

import threading
import time
from collections import deque
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from deskhand.recording.errors import FeedEnded
from deskhand.recording.ports import CapturedFrame, RecentDamage, Rectangle

WAIT = 20.0
"""Seconds after which a test that waits has failed."""

Picture = NDArray[np.uint8]


def plain(width: int = 320, height: int = 240, grey: int = 200) -> Picture:
    return np.full((height, width, 4), grey, np.uint8)


def marked(number: int, width: int = 320, height: int = 240) -> Picture:
    """Return a picture from which ``number_of`` reads the number, also after encoding."""
    picture = plain(width, height)
    for bit in range(16):
        shade = 255 if number >> bit & 1 else 0
        picture[32:64, 16 * bit : 16 * bit + 16, :3] = shade
    return picture


def number_of(frame: av.VideoFrame) -> int:
    grey = frame.to_ndarray(format="gray")
    return sum(int(grey[48, 16 * bit + 8] > 127) << bit for bit in range(16))


class FakeFeed:
    """Delivers queued frames; the first call returns the current frame at once."""

    def __init__(self, first: CapturedFrame) -> None:
        self._frames = deque([first])
        self._changed = threading.Condition()
        self._lost = False
        self.closed = False
        self.taken = 0

    def put(self, frame: CapturedFrame) -> None:
        with self._changed:
            self._frames.append(frame)
            self._changed.notify_all()

    def lose(self) -> None:
        with self._changed:
            self._lost = True
            self._changed.notify_all()

    def next_frame(self, timeout: float) -> CapturedFrame | None:
        with self._changed:
            self._changed.wait_for(lambda: self._frames or self._lost or self.closed, timeout)
            if self._frames:
                self.taken += 1
                self._changed.notify_all()
                return self._frames.popleft()
            if self._lost:
                raise FeedEnded
            return None

    def damage(self, unchecked_before: float) -> RecentDamage:
        return RecentDamage()

    def close(self) -> None:
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def wait_until_taken(self) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: not self._frames or self.closed, WAIT)


class FakeSource:
    """Screen; ``show`` changes it for all feeds."""

    def __init__(self, picture: Picture | None = None) -> None:
        self.picture = plain() if picture is None else picture
        self.feeds: list[FakeFeed] = []

    @property
    def size(self) -> tuple[int, int]:
        return self.picture.shape[1], self.picture.shape[0]

    def subscribe(self) -> FakeFeed:
        width, height = self.size
        feed = FakeFeed(CapturedFrame(self.picture, time.monotonic(), ((0, 0, width, height),)))
        self.feeds.append(feed)
        return feed

    def show(self, picture: Picture, *regions: Rectangle) -> float:
        """Change the screen; return the time once every feed has delivered the frame."""
        now = time.monotonic()
        self.picture = picture
        for feed in self.feeds:
            if not feed.closed:
                feed.put(CapturedFrame(picture, now, regions or ((0, 0, *self.size),)))
                feed.wait_until_taken()
        return now

    def lose(self) -> None:
        for feed in self.feeds:
            feed.lose()


def decoded(path: Path) -> list[tuple[float, int]]:
    """Return time and number of every frame in a video made of ``marked`` pictures."""
    with av.open(str(path)) as video:
        return [(float(frame.time), number_of(frame)) for frame in video.decode(video=0)]


def key_times(path: Path) -> list[float]:
    """Return the times of the keyframes of a video."""
    with av.open(str(path)) as video:
        packets = video.demux(video.streams.video[0])
        return [
            float(packet.pts * packet.time_base)
            for packet in packets
            if packet.is_keyframe and packet.pts is not None
        ]
