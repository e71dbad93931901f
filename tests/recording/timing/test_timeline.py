from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.recording.settings import Squeeze
from deskhand.recording.timing.timeline import Timeline, TimeMap

RULES = Squeeze()


def offline(at: float, activities: list[float], rules: Squeeze = RULES) -> float:
    """Return the video time of ``at`` when all activities are known; the first one is the start."""
    video = 0.0
    for before, after in pairwise(activities):
        video += stretch(min(at, after) - before, after - before, rules)
        if at <= after:
            return video
    return video + stretch(at - activities[-1], float("inf"), rules)


def stretch(gone: float, length: float, rules: Squeeze) -> float:
    """Video of the first ``gone`` seconds of an idle stretch of ``length``."""
    margin = rules.margin
    if length <= 2 * margin:
        return gone
    head = min(gone, margin)
    tail = max(0.0, gone - (length - margin))
    middle = gone - head - tail
    fast = min(middle, (rules.longest - 2 * margin) * rules.factor)
    return head + tail + fast / rules.factor + (middle - fast) / rules.vanishing


@pytest.mark.parametrize(
    ("idle", "video"),
    [
        (0.1, 0.1),
        (0.59, 0.59),
        (0.6, 0.6),
        (0.8, 0.61),
        (10.6, 1.1),
        (28.6, 2.0),
        (600.0, 2.0005714),
        (86_400.0, 2.0863714),
    ],
)
def test_an_idle_stretch_never_plays_much_longer_than_two_seconds(
    idle: float, video: float
) -> None:
    timeline = Timeline(100.0, RULES)
    timeline.finish(100.0 + idle)
    assert timeline.video(100.0 + idle) == pytest.approx(video)


def test_activity_plays_at_normal_speed_with_a_margin_on_both_sides() -> None:
    timeline = Timeline(0.0, RULES)
    timeline.activity(10.0)
    timeline.finish(20.0)
    begin, end = timeline.video(9.7), timeline.video(10.3)
    assert end - begin == pytest.approx(0.6)
    assert timeline.video(9.7) - timeline.video(9.6) == pytest.approx(0.1 / 20)


def test_the_fixed_map_does_not_change_when_activity_is_reported_late() -> None:
    timeline = Timeline(0.0, RULES)
    timeline.settle(10.0)
    before = timeline.video(9.6)
    timeline.activity(9.5)
    assert timeline.video(9.6) == before
    timeline.finish(12.0)
    assert timeline.video(9.6) == before
    assert timeline.video(9.8) - timeline.video(9.7) == pytest.approx(0.1)


def test_after_the_horizon_the_map_assumes_no_further_activity() -> None:
    timeline = Timeline(0.0, RULES)
    timeline.settle(0.5)
    assert timeline.horizon == pytest.approx(0.2)
    assert timeline.video(10.3) == pytest.approx(0.3 + 10 / 20)
    assert timeline.horizon == pytest.approx(0.2)


def test_settling_twice_and_old_activities_change_nothing() -> None:
    timeline = Timeline(5.0, RULES)
    timeline.activity(4.0)
    timeline.activity(6.0)
    timeline.activity(6.0)
    timeline.settle(8.0)
    timeline.settle(7.0)
    assert timeline.horizon == pytest.approx(7.7)
    assert timeline.video(6.3) == pytest.approx(offline(6.3, [5.0, 6.0]))


def test_a_slice_of_the_map_begins_at_zero() -> None:
    timeline = Timeline(0.0, RULES)
    timeline.activity(50.0)
    timeline.finish(60.0)
    whole = timeline.between(0.0, 60.0)
    part = timeline.between(49.9, 60.0)
    assert part.points[0] == (0.0, 0.0)
    assert part.end[0] == pytest.approx(10.1)
    assert part.video(5.0) == pytest.approx(whole.video(54.9) - whole.video(49.9))


def test_a_slice_without_length_is_a_single_point() -> None:
    timeline = Timeline(1.0, RULES)
    assert timeline.between(2.0, 3.0).points == ((0.0, 0.0),)


def test_forgetting_the_past_does_not_change_the_rest() -> None:
    timeline = Timeline(0.0, RULES)
    for second in range(0, 200, 5):
        timeline.activity(float(second))
    timeline.settle(190.0)
    asked = [150.0, 161.3, 189.0, 195.0]
    before = [timeline.video(at) for at in asked]
    timeline.forget(150.0)
    timeline.forget(150.0)
    assert [timeline.video(at) for at in asked] == before
    timeline.finish(250.0)
    assert timeline.video(250.0) == pytest.approx(
        offline(250.0, [*map(float, range(0, 200, 5)), 250.0])
    )


def test_outside_of_its_points_the_map_has_the_value_of_its_end() -> None:
    times = TimeMap(((0.0, 0.0), (10.0, 2.0)))
    assert (times.video(-1.0), times.video(11.0)) == (0.0, 2.0)
    assert (times.real(-1.0), times.real(3.0)) == (0.0, 10.0)


gaps = st.lists(
    st.floats(0.001, 2.0) | st.floats(0.001, 120.0) | st.just(0.6) | st.just(0.3), max_size=40
)


@given(gaps, st.lists(st.floats(0.0, 1.0), max_size=20))
def test_one_pass_equals_the_map_made_when_everything_is_known(
    between: list[float], asked: list[float]
) -> None:
    activities = [0.0]
    for gap in between:
        activities.append(activities[-1] + gap)
    end = activities[-1] + 3.0
    timeline = Timeline(0.0, RULES)
    for at in activities[1:]:
        timeline.activity(at)
        timeline.settle(at)
    timeline.finish(end)
    for share in asked:
        at = share * end
        assert timeline.video(at) == pytest.approx(offline(at, [*activities, end]), abs=1e-6)


@given(gaps, gaps)
def test_the_map_never_falls_and_never_runs_faster_than_time(
    between: list[float], ticks: list[float]
) -> None:
    timeline = Timeline(0.0, RULES)
    now = 0.0
    for index, gap in enumerate(between):
        now += gap
        if index % 2:
            timeline.activity(now - (ticks[index % len(ticks)] if ticks else 0.0))
        timeline.settle(now)
    timeline.finish(now)
    points = timeline.between(0.0, now).points
    for (real, video), (later_real, later_video) in pairwise(points):
        assert later_real > real
        assert 0 <= later_video - video <= later_real - real + 1e-9


@given(gaps, st.floats(0.0, 1.0))
def test_real_time_to_video_and_back(between: list[float], share: float) -> None:
    timeline = Timeline(0.0, RULES)
    now = 0.0
    for gap in between:
        now += gap
        timeline.activity(now)
    timeline.finish(now + 1.0)
    times = timeline.between(0.0, now + 1.0)
    at = share * times.end[0]
    # Where an hour takes a millisecond, a float holds only so many digits of the way back.
    assert times.real(times.video(at)) == pytest.approx(at, abs=1e-2)
    assert times.video(times.real(times.video(at))) == pytest.approx(times.video(at), abs=1e-9)


@given(gaps, st.floats(0.0, 5.0))
def test_a_frame_shown_early_never_moves_back(between: list[float], ahead: float) -> None:
    timeline = Timeline(0.0, RULES)
    now, asked, guess = 0.0, 0.0, 0.0
    for gap in between:
        now += gap
        timeline.activity(now)
        timeline.settle(now)
        assert timeline.video(asked) >= guess - 1e-9
        asked = now + ahead
        guess = timeline.video(asked)
