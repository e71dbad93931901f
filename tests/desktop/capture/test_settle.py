from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.capture.frames import Damage
from deskhand.desktop.capture.settle import Settle, SettleRule, around, joined, restless, touching
from deskhand.desktop.geometry import Point, Region

WINDOW = Region(100, 100, 500, 400)
CARET = Region(200, 200, 202, 220)
RULE = SettleRule()


def paint(time: float, *regions: Region) -> Damage:
    return Damage(time, regions)


def test_nothing_painted_is_no_change() -> None:
    settle = Settle(RULE, started=10.0)
    assert settle.verdict(10.0) is None
    assert settle.remaining(10.0) == 0.25
    assert settle.verdict(10.25) == "no_change"


def test_quiet_begins_with_the_last_paint() -> None:
    settle = Settle(RULE, started=10.0)
    settle.painted(paint(10.03, WINDOW))
    settle.painted(paint(10.05, WINDOW))
    assert settle.verdict(10.1) is None
    assert settle.verdict(10.16) == "quiet"
    assert settle.regions == [WINDOW, WINDOW]


def test_a_small_change_needs_less_silence() -> None:
    settle = Settle(RULE, started=10.0)
    settle.painted(paint(10.01, Region(200, 200, 840, 248)))
    assert settle.verdict(10.05) is None
    assert settle.verdict(10.06) == "quiet"


def test_small_paints_add_up_to_a_large_change() -> None:
    settle = Settle(RULE, started=10.0)
    settle.painted(paint(10.01, Region(200, 200, 840, 248)))
    settle.painted(paint(10.02, CARET))
    assert settle.verdict(10.1) is None
    assert settle.verdict(10.12) == "quiet"


def test_a_small_change_that_comes_late_is_silent_for_longer() -> None:
    settle = Settle(RULE, started=10.0)
    settle.painted(paint(10.2, CARET))
    assert settle.verdict(10.4) is None
    assert settle.verdict(10.5) == "quiet"


def test_slow_paints_must_be_silent_for_longer() -> None:
    settle = Settle(RULE, started=10.0)
    settle.painted(paint(10.08, WINDOW))
    assert settle.verdict(10.2) is None
    assert settle.verdict(10.25) == "quiet"
    settle.painted(paint(10.2, WINDOW))
    assert settle.verdict(10.4) is None
    assert settle.verdict(10.45) == "quiet"


def test_a_slow_painter_delays_rest_by_three_times_quiet_at_most() -> None:
    settle = Settle(SettleRule(grace=1.0), started=10.0)
    settle.painted(paint(10.9, WINDOW))
    assert settle.verdict(11.15) is None
    assert settle.verdict(11.21) == "quiet"


def test_a_paint_reported_late_does_not_turn_time_back() -> None:
    settle = Settle(RULE, started=10.0)
    settle.painted(paint(10.5, WINDOW))
    settle.painted(paint(10.1, WINDOW))
    assert settle.verdict(10.55) is None


def test_a_paint_during_the_action_still_waits_for_quiet_after_it() -> None:
    settle = Settle(RULE, started=10.0)
    settle.painted(paint(9.5, WINDOW))
    assert settle.verdict(10.05) is None
    assert settle.verdict(10.1) == "quiet"


def test_paints_without_end_meet_the_ceiling() -> None:
    settle = Settle(SettleRule(longest=1.0), started=10.0)
    settle.painted(paint(10.95, WINDOW))
    assert settle.remaining(10.95) < 0.051
    assert not settle.overdue(10.95)
    assert settle.overdue(11.0)
    assert settle.verdict(11.0) == "ceiling"


def test_a_ceiling_under_the_grace_time_comes_first() -> None:
    settle = Settle(SettleRule(longest=0.05), started=10.0)
    assert settle.verdict(10.05) == "no_change"


def test_remaining_is_never_negative() -> None:
    assert Settle(RULE, started=10.0).remaining(99.0) == 0.0


def test_a_blinking_caret_does_not_count() -> None:
    recent = (paint(9.1, CARET), paint(9.6, CARET))
    settle = Settle(RULE, started=10.0, recent=recent)
    settle.painted(paint(10.1, CARET))
    assert settle.verdict(10.25) == "no_change"
    assert settle.regions == [CARET]


def test_a_caret_seen_once_counts() -> None:
    settle = Settle(RULE, started=10.0, recent=(paint(9.6, CARET),))
    settle.painted(paint(10.02, CARET))
    assert settle.verdict(10.13) == "quiet"


def test_damage_around_a_caret_counts() -> None:
    settle = Settle(RULE, started=10.0, recent=(paint(9.1, CARET), paint(9.6, CARET)))
    settle.painted(paint(10.02, CARET, WINDOW))
    assert settle.verdict(10.13) == "quiet"
    assert settle.regions == [CARET, WINDOW]


def test_a_window_painted_once_over_a_caret_is_not_restless_itself() -> None:
    assert restless((paint(9.1, WINDOW), paint(9.6, CARET))) == (CARET,)


def test_one_paint_of_many_regions_is_not_restless() -> None:
    assert restless((paint(9.1, WINDOW, CARET),)) == ()


def test_a_spinner_of_changing_boxes_is_restless() -> None:
    turns = [Region(10 + i, 10, 30 + i, 30) for i in range(5)]
    found = restless([paint(9 + i / 10, turn) for i, turn in enumerate(turns)])
    assert any(region.covers(turns[2]) for region in found)


def test_damage_of_a_panel_alone_announces_a_change() -> None:
    panel = Region(0, 900, 1000, 950)
    settle = Settle(RULE, started=10.0, margins=(panel,))
    settle.painted(paint(10.05, panel))
    assert settle.verdict(10.5) is None
    assert settle.verdict(10.56) == "quiet"
    settle.painted(paint(10.06, WINDOW))
    assert settle.verdict(10.17) == "quiet"


def test_regions_known_to_move_do_not_count() -> None:
    settle = Settle(RULE, started=10.0, moving=(CARET,))
    settle.painted(paint(10.1, CARET))
    assert settle.verdict(10.25) == "no_change"
    assert settle.moving_at(10.25) == (CARET,)


def test_regions_painted_until_the_ceiling_are_known_to_move() -> None:
    settle = Settle(SettleRule(longest=1.0), started=10.0)
    for turn in range(11):
        settle.painted(paint(10.0 + turn / 10, CARET))
    assert settle.moving_at(10.9) == ()
    assert settle.moving_at(11.0) == (CARET,)
    assert settle.moving_at(19.0) == ()


def test_a_page_that_was_built_just_before_is_not_restless() -> None:
    page = Region(0, 0, 1900, 1000)
    assert restless((paint(9.1, page), paint(9.2, page, CARET), paint(9.7, CARET))) == ()


def test_ignored_regions_do_not_count() -> None:
    settle = Settle(SettleRule(ignore=(WINDOW,)), started=10.0)
    settle.painted(paint(10.1, CARET))
    assert settle.verdict(10.25) == "no_change"
    assert settle.regions == []


def test_overlapping_regions_are_joined_and_others_left_alone() -> None:
    far = Region(900, 900, 910, 910)
    bridge = Region(450, 350, 905, 905)
    assert joined([WINDOW, far]) == [WINDOW, far]
    assert joined([WINDOW, far, bridge]) == [around(around(WINDOW, far), bridge)]


regions = st.builds(
    lambda x, y, w, h: Region(x, y, x + w, y + h),
    *[st.integers(0, 60)] * 2,
    *[st.integers(1, 30)] * 2,
)


@given(st.lists(regions, max_size=12))
def test_joined_boxes_cover_everything_and_do_not_overlap(given_regions: list[Region]) -> None:
    boxes = joined(given_regions)
    assert all(any(box.covers(region) for box in boxes) for region in given_regions)
    assert not any(touching(a, b) for i, a in enumerate(boxes) for b in boxes[:i])


@given(
    st.lists(st.tuples(st.floats(0, 5), regions), max_size=20).map(lambda d: sorted(d)),
    st.floats(0.01, 0.5),
    st.floats(0.5, 4),
)
def test_the_wait_always_ends_at_the_ceiling(
    damages: list[tuple[float, Region]], quiet: float, longest: float
) -> None:
    settle = Settle(SettleRule(quiet=quiet, longest=longest), started=0.0)
    for time, region in damages:
        settle.painted(paint(time, region))
        assert 0 <= settle.remaining(0.0) <= longest
    assert settle.verdict(longest) is not None


def test_after_the_feedback_of_a_button_its_effect_is_awaited() -> None:
    button = Region(180, 190, 380, 250)
    settle = Settle(RULE, started=10.0, clicked=Point(200, 200))
    settle.painted(paint(10.02, button))
    assert settle.verdict(10.2) is None
    settle.painted(paint(10.22, WINDOW))
    assert settle.verdict(10.53) == "quiet"


def test_after_the_feedback_of_a_button_the_wait_lasts_one_grace_time() -> None:
    settle = Settle(RULE, started=10.0, clicked=Point(200, 200))
    settle.painted(paint(10.02, Region(180, 190, 380, 250)))
    assert settle.verdict(10.26) is None
    assert settle.verdict(10.28) == "quiet"


def test_a_large_or_distant_paint_is_the_effect_of_a_click() -> None:
    for region in (WINDOW, Region(700, 200, 720, 210)):
        settle = Settle(RULE, started=10.0, clicked=Point(200, 200))
        settle.painted(paint(10.02, region))
        assert settle.verdict(10.13) == "quiet"
