import queue

from deskhand.recording.pipeline.clocks import SystemClock
from deskhand.recording.pipeline.frame_reader import Viewfinder
from deskhand.recording.ports import Shot
from tests.recording.fakes import WAIT, FakeFeed, plain

LONG = 1_000_000.0


def test_a_hurry_ends_a_long_wait_for_the_next_picture() -> None:
    clock = SystemClock()
    feed = FakeFeed(Shot(plain(), 1.0, ()))
    viewfinder = Viewfinder(feed, clock)
    seen: queue.SimpleQueue[float] = queue.SimpleQueue()
    viewfinder.open(lambda shot: seen.put(shot.time), lambda: seen.put(-1.0))
    viewfinder.want(clock.now() + LONG)
    viewfinder.hurry()
    assert seen.get(timeout=WAIT) == 1.0
    viewfinder.want(clock.now() + LONG)
    viewfinder.close()
    viewfinder.join()
    assert seen.empty()
