from deskhand.recording.ports import CapturedFrame, Rectangle
from deskhand.recording.timing.significance import MAX_HABITS, REMEMBERED, SignificanceFilter
from tests.recording.fakes import plain

CLOCK = (1800, 0, 1860, 20)
BUTTON = (100, 100, 180, 130)
WINDOW = (0, 0, 800, 600)


def frame(at: float, *regions: Rectangle) -> CapturedFrame:
    return CapturedFrame(plain(4, 4), at, regions, regions)


def test_a_caret_is_never_significant() -> None:
    toggling = SignificanceFilter()
    assert not toggling.significant([(10, 10, 12, 40)], 0.0)


def test_a_blinking_light_is_never_significant() -> None:
    assert not SignificanceFilter().significant([(10, 10, 18, 18)], 0.0)


def test_a_tall_thin_line_is_more_than_a_caret() -> None:
    assert SignificanceFilter().significant([(10, 0, 12, 1000)], 0.0)


def test_nothing_painted_is_nothing_significant() -> None:
    assert not SignificanceFilter().significant([], 0.0)


def test_large_damage_is_always_significant() -> None:
    toggling = SignificanceFilter()
    assert all(toggling.significant([WINDOW], float(now)) for now in range(10))


def test_a_small_region_that_ticks_by_itself_is_ignored_after_two_changes() -> None:
    toggling = SignificanceFilter()
    seen = [toggling.significant([CLOCK], float(now)) for now in range(6)]
    assert seen == [True, True, False, False, False, False]


def test_a_clock_of_minutes_is_ignored_too() -> None:
    toggling = SignificanceFilter()
    seen = [toggling.significant([CLOCK], 60.0 * now) for now in range(4)]
    assert seen == [True, True, False, False]


def test_a_region_that_was_quiet_for_long_is_significant_again() -> None:
    toggling = SignificanceFilter()
    for now in range(5):
        toggling.significant([CLOCK], float(now))
    assert toggling.significant([CLOCK], 5.0 + REMEMBERED)


def test_other_damage_beside_a_clock_is_significant() -> None:
    toggling = SignificanceFilter()
    for now in range(5):
        toggling.significant([CLOCK], float(now))
    assert toggling.significant([CLOCK, BUTTON], 5.0)
    assert not toggling.significant([CLOCK], 6.0)


def test_the_effect_of_input_is_never_periodic() -> None:
    toggling = SignificanceFilter()
    for now in range(6):
        toggling.input(float(now))
        assert toggling.significant([BUTTON], now + 0.5)


def test_a_clock_stays_known_while_a_person_types() -> None:
    toggling = SignificanceFilter()
    for now in range(3):
        toggling.significant([CLOCK], float(now))
    toggling.input(3.0)
    toggling.input(2.0)
    assert not toggling.significant([CLOCK], 3.1)


def test_text_that_a_program_prints_letter_by_letter_is_significant() -> None:
    toggling = SignificanceFilter()
    letters = [(10 * i, 50, 10 * i + 10, 70) for i in range(30)]
    assert all(toggling.significant([letter], i * 0.1) for i, letter in enumerate(letters))


def test_a_spinner_whose_damage_varies_a_little_is_one_region() -> None:
    toggling = SignificanceFilter()
    boxes = [(100, 100, 130, 130), (101, 100, 130, 129), (100, 102, 129, 130)]
    seen = [toggling.significant([boxes[i % 3]], i * 0.1) for i in range(6)]
    assert seen == [True, True, False, False, False, False]


def test_the_oldest_region_is_forgotten_when_there_are_too_many() -> None:
    toggling = SignificanceFilter()
    for now in range(3):
        toggling.significant([CLOCK], float(now))
    crowd = [
        (40 * (i % 40), 40 * (i // 40), 40 * (i % 40) + 20, 40 * (i // 40) + 20)
        for i in range(MAX_HABITS)
    ]
    toggling.significant(crowd, 4.0)
    assert toggling.significant([CLOCK], 5.0)


def test_the_reports_before_a_frame_decide_whether_it_is_significant() -> None:
    toggling = SignificanceFilter()
    for now in range(3):
        toggling.reported([CLOCK], float(now))
    assert toggling.of_frame(frame(2.0, CLOCK))
    assert not toggling.reported([CLOCK], 3.0)
    assert toggling.reported([WINDOW], 4.0)
    assert not toggling.of_frame(frame(3.5, WINDOW))
    assert toggling.of_frame(frame(4.0, CLOCK))


def test_regions_that_were_not_reported_are_judged_with_the_frame() -> None:
    toggling = SignificanceFilter()
    assert toggling.of_frame(frame(1.0, WINDOW))
    assert not toggling.of_frame(frame(1.5, (10, 10, 12, 40)))
    toggling.reported([(10, 10, 12, 40)], 2.0)
    assert toggling.of_frame(frame(2.0, WINDOW)._replace(changed=None))


def test_a_moved_pointer_is_significant() -> None:
    assert SignificanceFilter().of_frame(frame(1.0))
