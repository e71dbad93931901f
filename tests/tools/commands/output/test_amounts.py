import pytest

from deskhand.tools.commands.output.amounts import age, amount, clock, size


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0 s"), (59, "59 s"), (60, "1 min"), (3600, "1 h"), (100_000, "27 h"), (200_000, "2 d")],
)
def test_an_age_has_its_largest_unit(seconds: float, text: str) -> None:
    assert age(seconds) == text


def test_a_duration_is_minutes_and_seconds() -> None:
    assert [clock(seconds) for seconds in (0, 7.9, 247)] == ["0:00", "0:07", "4:07"]


def test_counts_and_sizes_are_short() -> None:
    assert [amount(count) for count in (7, 12_345, 3_000_000)] == ["7", "12.3k", "3.0M"]
    assert [size(count) for count in (7, 1_500, 10**15)] == ["7 B", "1.5 kB", "1000.0 TB"]
