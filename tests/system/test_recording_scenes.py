"""Scenes on a real display, and how fast its recording plays them.

Where a test sleeps, time itself is the scene; nothing is waited for.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import av
import pytest

from deskhand.desktop.display.child_processes import ChildCommand
from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.input.events import PointerMotion, Tap
from deskhand.desktop.input.xtest import XTestInput
from deskhand.desktop.recordings.frame_source import FrameSource, FrameStream
from deskhand.recording.library.catalog import Catalog
from deskhand.recording.pipeline.clocks import SystemClock
from deskhand.recording.pipeline.recorder import Recorder
from deskhand.recording.ports import CapturedFrame, RecentDamage
from deskhand.recording.settings import RecordingSettings
from tests.system.displays import PATIENCE, Display, Window, display, framebuffer, mapping_window
from tests.system.services import until

pytestmark = pytest.mark.x11

A = "a1111111-2222-3333-4444-555555555555"
SETTINGS = RecordingSettings(free_to_start=0, free_to_go_on=0)
Seen = Callable[[CapturedFrame], None]


class Hastened(SystemClock):
    """Lets a day pass in minutes."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._begun = time.monotonic()
        self._leapt = 0.0

    def at(self, moment: float) -> float:
        return self._begun + (moment - self._begun) * self._speed + self._leapt

    def real(self, moment: float) -> float:
        return self._begun + (moment - self._leapt - self._begun) / self._speed

    def leap(self, seconds: float) -> None:
        """Let so much time pass in no time."""
        self._leapt += seconds

    def now(self) -> float:
        return self.at(super().now())


class HastenedSource:
    """A screen on which everything happens that much faster."""

    def __init__(self, source: FrameSource, clock: Hastened, seen: Seen) -> None:
        self._source = source
        self._clock = clock
        self._seen = seen

    @property
    def size(self) -> tuple[int, int]:
        return self._source.size

    def subscribe(self) -> "HastenedFeed":
        return HastenedFeed(self._source.subscribe(), self._clock, self._seen)


class HastenedFeed:
    def __init__(self, feed: FrameStream, clock: Hastened, seen: Seen) -> None:
        self._feed = feed
        self._clock = clock
        self._seen = seen

    def next_frame(self, timeout: float) -> CapturedFrame | None:
        shot = self._feed.next_frame(timeout)
        if shot is None:
            return None
        self._seen(shot)
        return shot._replace(time=self._clock.at(shot.time))

    def damage(self, unchecked_before: float) -> RecentDamage:
        clock = self._clock
        found = self._feed.damage(clock.real(unchecked_before))
        reports = tuple(one._replace(time=clock.at(one.time)) for one in found.reports)
        return RecentDamage(reports, clock.at(found.unchecked_since))

    def close(self) -> None:
        self._feed.close()


@contextmanager
def recorder(
    running: Display, clock: Hastened | None = None, seen: Seen = lambda _: None
) -> Iterator[Recorder]:
    """Record; each frame that is captured is ``seen``."""
    clock = clock or Hastened(1.0)
    with framebuffer(running) as pixels:
        source = HastenedSource(FrameSource(pixels), clock, seen)
        with Recorder(source, running.folder / "films", SETTINGS, clock) as opened:
            opened.start(A)
            yield opened


@contextmanager
def input_on(running: Display) -> Iterator[XTestInput]:
    with XTestInput(running.server.display, running.server.xauthority) as opened:
        yield opened


def ended(recorder: Recorder, running: Display) -> dict[str, Any]:
    recorder.stop(A)
    return Catalog(running.folder / "films").get(A)


def xterm(running: Display, script: str, *options: str) -> None:
    """Open a terminal and wait until its script runs."""
    ready = running.folder / "ready"
    os.mkfifo(ready)
    command = ("xterm", *options, "-geometry", "80x24+0+0", "-e", f"echo > {ready}; {script}")
    order = ChildCommand(command, running.environment, running.folder / "logs/x.log")
    with mapping_window(running.server):
        running.spawner.spawn(order)
        ready.read_text()


def test_typing_plays_at_real_speed(tmp_path: Path) -> None:
    with display(tmp_path) as running, input_on(running) as typist:
        typist.perform([PointerMotion(Point(200, 150))])
        xterm(running, "exec cat")
        with recorder(running) as recording:
            # These keys are not reported to the recorder: it sees the letters.
            for letter in "the quick brown fox jumps":
                typist.perform([Tap(ord(letter))])
                time.sleep(0.12)
            facts = ended(recording, running)
    assert facts["duration_s"] > 3.0
    assert facts["video_s"] > 0.9 * facts["duration_s"]


def test_a_blinking_caret_plays_as_seconds_however_long(tmp_path: Path) -> None:
    with display(tmp_path) as running:
        # 20 times faster, so that the caret blinks every half a second of the hastened clock.
        xterm(running, "exec cat", "-bc", "-bcf", "25", "-bcn", "25")
        clock = Hastened(20.0)
        with recorder(running, clock) as recording:
            begun = clock.now()
            until(lambda: clock.now() > begun + 90.0, "the end of a long pause")
            facts = ended(recording, running)
    assert facts["duration_s"] > 90.0
    assert facts["video_s"] < 6.0


def test_a_clock_plays_as_seconds_however_long_it_ticks(tmp_path: Path) -> None:
    clock, ticks = Hastened(20.0), count(1)
    with (
        display(tmp_path) as running,
        Window(running.server, Region(700, 0, 790, 20), 0x222222) as applet,
        recorder(running, clock) as recording,
    ):
        begun = clock.now()
        while clock.now() < begun + 60.0:
            time.sleep(0.05)
            applet.paint(0x222222 + next(ticks) % 200)
        facts = ended(recording, running)
    assert facts["duration_s"] > 60.0
    assert facts["video_s"] < 12.0


def test_a_still_hour_plays_as_two_seconds(tmp_path: Path) -> None:
    clock = Hastened(1.0)
    with display(tmp_path) as running, recorder(running, clock) as recording:
        clock.leap(3600.0)
        facts = ended(recording, running)
    assert facts["duration_s"] > 3600.0
    assert facts["video_s"] < 5.0


def test_a_pointer_that_moves_over_a_still_screen_is_shown(tmp_path: Path) -> None:
    with display(tmp_path) as running, input_on(running) as mover, recorder(running) as recording:
        for step in range(20):
            mover.perform([PointerMotion(Point(100 + 20 * step, 300))])
            time.sleep(0.12)
        facts = ended(recording, running)
    assert facts["video_s"] > 0.85 * facts["duration_s"]


def test_a_menu_that_is_open_for_a_moment_is_seen(tmp_path: Path) -> None:
    captured = threading.Event()

    def seen(frame: CapturedFrame) -> None:
        if frame.pixels[180, 160, 2] > 128:
            captured.set()

    with display(tmp_path) as running, recorder(running, seen=seen) as recording:
        time.sleep(0.8)
        with Window(running.server, Region(100, 100, 260, 220), 0xFF0000):
            # The moment is as long on a machine that is slow to capture the begin.
            assert captured.wait(PATIENCE)
            time.sleep(0.2)
        time.sleep(0.8)
        ended(recording, running)
        video = Catalog(running.folder / "films").video(A)
    with av.open(str(video)) as container:
        shown = [
            (float(frame.time or 0), bool(frame.to_ndarray(format="rgb24")[160, 180, 0] > 128))
            for frame in container.decode(video=0)
        ]
    opened = next(at for at, red in shown if red)
    closed = next(at for at, red in shown if at > opened and not red)
    assert closed - opened > 0.12
