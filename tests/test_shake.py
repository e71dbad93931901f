"""The tests that a change touches."""

import pytest

from scripts.shake import touched_by

SOURCE = """\
import pytest

LIMIT = 3


@pytest.mark.parametrize("number", [1, 2])
def test_one(number: int) -> None:
    assert number < LIMIT


class TestMore:
    async def test_two(self) -> None:
        assert LIMIT


def helper() -> None:
    pass
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([8], ["test_one"]),
        ([6], ["test_one"]),
        ([13, 8, 7], ["test_one", "TestMore::test_two"]),
        ([3], [None]),
        ([8, 17], [None]),
        ([], [None]),
    ],
)
def test_lines_outside_of_tests_touch_the_whole_file(
    lines: list[int], expected: list[str | None]
) -> None:
    assert touched_by(SOURCE, lines) == expected
