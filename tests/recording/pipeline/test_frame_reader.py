import queue

from deskhand.recording.pipeline.clocks import SystemClock
from deskhand.recording.pipeline.frame_reader import FrameReader
from deskhand.recording.ports import CapturedFrame
from tests.recording.fakes import WAIT, FakeFeed, plain

LONG = 1_000_000.0


def test_skipping_the_pause_ends_a_long_wait_for_the_next_frame() -> None:
    clock = SystemClock()
    feed = FakeFeed(CapturedFrame(plain(), 1.0, ()))
    reader = FrameReader(feed, clock)
    seen: queue.SimpleQueue[float] = queue.SimpleQueue()
    reader.open(lambda frame: seen.put(frame.time), lambda: seen.put(-1.0))
    reader.request_frame(clock.now() + LONG)
    reader.skip_pause()
    assert seen.get(timeout=WAIT) == 1.0
    reader.request_frame(clock.now() + LONG)
    reader.close()
    reader.join()
    assert seen.empty()
