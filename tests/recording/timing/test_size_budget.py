from hypothesis import given
from hypothesis import strategies as st

from deskhand.recording.timing.size_budget import (
    FULL,
    INDEX_HEAD,
    NEXT_PART,
    QUALITY_LEVELS,
    SizeBudget,
    shared_level,
)

CAP = 104_857_600


def test_a_fresh_file_has_the_best_quality() -> None:
    budget = SizeBudget(CAP)
    assert budget.level == 0
    assert not budget.full


def test_each_level_may_spend_half_of_the_rest() -> None:
    budget = SizeBudget(CAP)
    levels = []
    for share in (0.49, 0.5, 0.74, 0.75, 0.87, 0.876, 0.9376, 0.97):
        budget.spent(int(share * CAP) - INDEX_HEAD + 1, 0)
        levels.append(budget.level)
    assert levels == [0, 1, 1, 2, 2, 3, 4, 4]


def test_a_jump_in_size_skips_levels() -> None:
    budget = SizeBudget(CAP)
    budget.spent(int(0.95 * CAP), 0)
    assert budget.level == len(QUALITY_LEVELS) - 1


def test_a_file_is_full_before_its_cap() -> None:
    budget = SizeBudget(CAP)
    budget.spent(int(FULL * CAP) - INDEX_HEAD - 1, 0)
    assert not budget.full
    budget.spent(int(FULL * CAP) - INDEX_HEAD + 1, 0)
    assert budget.full


def test_a_small_cap_keeps_more_room_for_frames_in_flight() -> None:
    budget = SizeBudget(10_000_000)
    budget.spent(8_500_000 - INDEX_HEAD - 1, 0)
    assert not budget.full
    budget.spent(8_500_000 - INDEX_HEAD, 0)
    assert budget.full
    small = SizeBudget(1_000_000)
    small.spent(750_000, 0)
    assert small.full


def test_the_index_is_part_of_the_size() -> None:
    budget = SizeBudget(CAP)
    budget.spent(int(0.9 * CAP), 250_000)
    assert budget.full


def test_quality_falls_only_when_all_recordings_agree() -> None:
    assert shared_level([0, 4]) == 0
    assert shared_level([3, 4]) == 3
    assert shared_level([]) == 0


def test_a_next_part_begins_at_the_third_level() -> None:
    assert SizeBudget(CAP, NEXT_PART).level == 2


@given(st.lists(st.integers(0, 1 << 20), max_size=300))
def test_the_quality_never_rises_and_a_full_file_fits(sizes: list[int]) -> None:
    budget = SizeBudget(CAP)
    size = 0
    for added in sizes:
        before = budget.level
        size += added
        budget.spent(size, 1)
        assert budget.level >= before
        if budget.full:
            # What is on its way: 0.3 s at the encoder's rate and one frame of a whole second.
            assert size + 1_300_000 + INDEX_HEAD < CAP
            break


def test_every_level_is_smaller_than_the_one_before() -> None:
    assert [level.crf for level in QUALITY_LEVELS] == sorted(level.crf for level in QUALITY_LEVELS)
    assert [level.fps for level in QUALITY_LEVELS] == sorted(
        (level.fps for level in QUALITY_LEVELS), reverse=True
    )
