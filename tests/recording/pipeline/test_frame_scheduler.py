from collections.abc import Iterator
from math import inf

import av
import pytest

from deskhand.recording.errors import RecordingFailed
from deskhand.recording.pipeline.frame_scheduler import CHECK_WITHIN, FrameScheduler
from deskhand.recording.ports import CapturedFrame
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.timing.timeline import TimeMap
from deskhand.recording.video.encoder import parameter_sets
from tests.recording.fakes import marked, number_of


@pytest.fixture
def scheduler() -> Iterator[FrameScheduler]:
    scheduler = FrameScheduler(RecordingSettings(), (320, 240), 0)
    scheduler.open()
    yield scheduler
    scheduler.close()


def frame(number: int, at: float) -> CapturedFrame:
    return CapturedFrame(marked(number), at, ((0, 0, 320, 240),))


def test_before_the_first_frame_there_is_nothing(scheduler: FrameScheduler) -> None:
    assert scheduler.repeat(1.0) is None
    assert scheduler.due(2.0) == []
    assert scheduler.finish(3.0) == []
    assert scheduler.deadline() is None
    assert scheduler.time_map(1.0) == (TimeMap(((0.0, 0.0),)), 1.0)
    scheduler.repeat_if_silent(2.0)
    scheduler.activity(1.0)
    scheduler.forget(1.0)


def test_frames_wait_until_their_times_are_fixed(scheduler: FrameScheduler) -> None:
    encoded = scheduler.encode(frame(1, 10.0), significant=True, key=False)
    assert encoded is not None
    assert encoded.key
    assert [frame.stamp for frame in scheduler.due(10.29)] == [0]
    scheduler.encode(frame(2, 10.3), significant=True, key=False)
    assert scheduler.due(10.59) == []
    assert [frame.stamp for frame in scheduler.due(10.61)] == [300]


def test_without_damage_the_last_frame_is_repeated_once(
    scheduler: FrameScheduler,
) -> None:
    scheduler.encode(frame(1, 10.0), significant=True, key=False)
    scheduler.due(10.5)
    assert scheduler.deadline() == 11.0
    scheduler.repeat_if_silent(11.0)
    (repeat,) = scheduler.due(11.4)
    # 0.3 s at normal speed, 0.7 s at twenty times.
    assert repeat.stamp == 335
    assert scheduler.deadline() is None
    scheduler.repeat_if_silent(500.0)
    assert scheduler.due(500.0) == []


def test_times_are_not_fixed_beyond_damage_without_a_frame(scheduler: FrameScheduler) -> None:
    scheduler.encode(frame(1, 10.0), significant=True, key=False)
    assert scheduler.due(10.3)
    scheduler.encode(frame(2, 10.4), significant=True, key=False)
    scheduler.unchecked_since = 10.6
    assert scheduler.due(11.05) == []
    scheduler.repeat_if_silent(11.4)
    # The damage counts as a change from then on.
    assert scheduler.deadline() == pytest.approx(10.6 + CHECK_WITHIN, abs=0.01)
    scheduler.activity(10.6)
    scheduler.activity(11.1)
    scheduler.unchecked_since = inf
    assert [frame.stamp for frame in scheduler.due(11.4)] == [400]
    scheduler.repeat_if_silent(11.4)
    assert [frame.stamp for frame in scheduler.due(11.8)] == [1400]


def test_two_frames_of_one_moment_get_two_time_stamps(scheduler: FrameScheduler) -> None:
    for number in range(3):
        scheduler.encode(frame(number, 10.0), significant=True, key=False)
    stamps = [frame.stamp for frame in scheduler.finish(10.0)]
    assert stamps == [0, 2, 4]


def test_the_end_needs_no_second_frame_of_the_same_moment(scheduler: FrameScheduler) -> None:
    scheduler.encode(frame(1, 10.0), significant=True, key=False)
    assert scheduler.repeat(10.001) is None
    assert scheduler.repeat(10.001, key=True) is not None


def test_a_change_of_level_begins_with_a_keyframe(scheduler: FrameScheduler) -> None:
    scheduler.encode(frame(1, 10.0), significant=True, key=False)
    scheduler.set_level(1)
    assert scheduler.level == 1
    encoded = scheduler.encode(frame(2, 10.1), significant=True, key=False)
    assert encoded is not None
    assert encoded.key


def test_a_frame_held_too_long_ago_is_not_encoded(scheduler: FrameScheduler) -> None:
    scheduler.encode(frame(1, 10.0), significant=True, key=False)
    assert scheduler.encode(frame(2, 100.0), significant=False, key=False) is not None
    assert scheduler.encode(frame(3, 100.2), significant=False, key=False) is None
    scheduler.encode(frame(4, 101.0), significant=True, key=False)
    assert len(scheduler.finish(101.0)) == 3


def test_a_held_frame_of_the_same_moment_is_dropped(scheduler: FrameScheduler) -> None:
    scheduler.encode(frame(1, 10.0), significant=True, key=False)
    scheduler.encode(frame(2, 100.0), significant=False, key=False)
    assert scheduler.encode(frame(3, 100.2), significant=False, key=False) is None
    scheduler.encode(frame(4, 100.201), significant=True, key=False)
    assert len(scheduler.finish(101.0)) == 3


def test_a_closed_scheduler_encodes_nothing(scheduler: FrameScheduler) -> None:
    scheduler.close()
    with pytest.raises(RecordingFailed):
        scheduler.encode(frame(1, 10.0), significant=True, key=False)


def test_changes_of_held_frames_are_converted_with_the_next_frame(
    scheduler: FrameScheduler,
) -> None:
    clock, mark = (0, 0, 16, 16), (0, 32, 320, 64)
    scheduler.encode(frame(1, 10.0), significant=True, key=False)
    scheduler.repeat_if_silent(400.0)
    changed = frame(2, 400.0)._replace(changed=(mark,))
    assert scheduler.encode(changed, significant=False, key=False) is None
    assert scheduler.encode(
        changed._replace(time=500.0, changed=(clock,)), significant=True, key=True
    )
    frames = scheduler.finish(500.0)
    decoder = av.CodecContext.create("h264", "r")
    decoder.extradata = parameter_sets(scheduler.template)
    shown = decoder.decode(av.Packet(frames[-1].encoded.data)) + decoder.decode(None)
    assert [number_of(frame) for frame in shown] == [2]
