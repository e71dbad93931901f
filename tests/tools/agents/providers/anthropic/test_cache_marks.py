import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.agents.providers.anthropic.cache_marks import MOST_MARKS, cache_marks


def roles(replies: int) -> list[str]:
    return ["user", *["assistant", "user"] * replies]


@pytest.mark.parametrize(
    ("replies", "settled", "places", "system"),
    [
        (0, (), (0,), True),
        (1, (), (0, 2), True),
        (9, (), (14, 16, 18), True),
        (9, (8,), (8, 16, 18), True),
        (9, (2, 8), (2, 8, 16, 18), False),
        (9, (2, 4, 8), (4, 8, 16, 18), False),
    ],
)
def test_ends_of_requests_and_of_settled_parts_are_marked(
    replies: int, settled: tuple[int, ...], places: tuple[int, ...], system: bool
) -> None:
    marks = cache_marks(roles(replies), settled)
    assert (marks.messages, marks.system) == (places, system)


def test_without_messages_only_the_system_prompt_is_marked() -> None:
    marks = cache_marks([])
    assert (marks.messages, marks.system) == ((), True)


@given(st.integers(0, 30), st.sets(st.integers(0, 30), max_size=3))
def test_a_request_finds_the_end_of_the_one_before_it(replies: int, parts: set[int]) -> None:
    settled = sorted(2 * one for one in parts if one <= replies)
    before = cache_marks(roles(replies), settled)
    after = cache_marks(roles(replies + 1), settled)
    assert max(before.messages) in after.messages
    assert len(after.messages) + after.system <= MOST_MARKS
