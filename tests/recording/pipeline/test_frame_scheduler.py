from collections.abc import Iterator

import av
import pytest

from deskhand.recording.errors import RecordingFailed
from deskhand.recording.pipeline.frame_scheduler import FrameScheduler
from deskhand.recording.ports import CapturedFrame
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.timing.timeline import TimeMap
from deskhand.recording.video.encoder import headers
from tests.recording.fakes import marked, number_of


@pytest.fixture
def exposure() -> Iterator[FrameScheduler]:
    exposure = FrameScheduler(RecordingSettings(), (320, 240), 0)
    exposure.open()
    yield exposure
    exposure.close()


def shot(number: int, at: float) -> CapturedFrame:
    return CapturedFrame(marked(number), at, ((0, 0, 320, 240),))


def test_before_the_first_shot_there_is_nothing(exposure: FrameScheduler) -> None:
    assert exposure.again(1.0) is None
    assert exposure.due(2.0) == []
    assert exposure.finish(3.0) == []
    assert exposure.deadline() is None
    assert exposure.times(1.0) == (TimeMap(((0.0, 0.0),)), 1.0)
    exposure.activity(1.0)
    exposure.forget(1.0)


def test_frames_wait_until_their_places_are_certain(exposure: FrameScheduler) -> None:
    coded = exposure.show(shot(1, 10.0), tells=True, key=False)
    assert coded is not None
    assert coded.key
    assert [frame.stamp for frame in exposure.due(10.29)] == [0]
    exposure.show(shot(2, 10.3), tells=True, key=False)
    assert exposure.due(10.59) == []
    assert [frame.stamp for frame in exposure.due(10.61)] == [300]


def test_in_silence_the_last_picture_comes_once_more_and_then_nothing(
    exposure: FrameScheduler,
) -> None:
    exposure.show(shot(1, 10.0), tells=True, key=False)
    exposure.due(10.5)
    assert exposure.deadline() == 11.0
    exposure.due(11.0)
    (again,) = exposure.due(11.4)
    # 0.3 s at normal speed, 0.7 s at twenty times.
    assert again.stamp == 335
    assert exposure.deadline() is None
    assert exposure.due(500.0) == []


def test_two_shots_of_one_moment_get_two_milliseconds(exposure: FrameScheduler) -> None:
    for number in range(3):
        exposure.show(shot(number, 10.0), tells=True, key=False)
    stamps = [frame.stamp for frame in exposure.finish(10.0)]
    assert stamps == [0, 2, 4]


def test_the_end_needs_no_second_frame_of_the_same_moment(exposure: FrameScheduler) -> None:
    exposure.show(shot(1, 10.0), tells=True, key=False)
    assert exposure.again(10.001) is None
    assert exposure.again(10.001, key=True) is not None


def test_a_change_of_quality_begins_with_a_key(exposure: FrameScheduler) -> None:
    exposure.show(shot(1, 10.0), tells=True, key=False)
    exposure.set_rung(1)
    assert exposure.rung == 1
    coded = exposure.show(shot(2, 10.1), tells=True, key=False)
    assert coded is not None
    assert coded.key


def test_a_picture_held_back_too_long_ago_is_not_shown(exposure: FrameScheduler) -> None:
    exposure.show(shot(1, 10.0), tells=True, key=False)
    assert exposure.show(shot(2, 100.0), tells=False, key=False) is not None
    assert exposure.show(shot(3, 100.2), tells=False, key=False) is None
    exposure.show(shot(4, 101.0), tells=True, key=False)
    assert len(exposure.finish(101.0)) == 3


def test_a_held_picture_of_the_same_moment_gives_way(exposure: FrameScheduler) -> None:
    exposure.show(shot(1, 10.0), tells=True, key=False)
    exposure.show(shot(2, 100.0), tells=False, key=False)
    assert exposure.show(shot(3, 100.2), tells=False, key=False) is None
    exposure.show(shot(4, 100.201), tells=True, key=False)
    assert len(exposure.finish(101.0)) == 3


def test_a_closed_exposure_shows_nothing(exposure: FrameScheduler) -> None:
    exposure.close()
    with pytest.raises(RecordingFailed):
        exposure.show(shot(1, 10.0), tells=True, key=False)


def test_what_was_held_back_is_converted_with_the_next_picture(exposure: FrameScheduler) -> None:
    clock, mark = (0, 0, 16, 16), (0, 32, 320, 64)
    exposure.show(shot(1, 10.0), tells=True, key=False)
    exposure.due(400.0)
    changed = shot(2, 400.0)._replace(changed=(mark,))
    assert exposure.show(changed, tells=False, key=False) is None
    assert exposure.show(changed._replace(time=500.0, changed=(clock,)), tells=True, key=True)
    frames = exposure.finish(500.0)
    decoder = av.CodecContext.create("h264", "r")
    decoder.extradata = headers(exposure.template)
    shown = decoder.decode(av.Packet(frames[-1].coded.data)) + decoder.decode(None)
    assert [number_of(frame) for frame in shown] == [2]
