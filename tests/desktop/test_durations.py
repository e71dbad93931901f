import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("30s", 30.0), ("5m", 300.0), ("1h30m", 5400.0), ("1.5h", 5400.0), ("250ms", 0.25)),
        *((".5s", 0.5), (" 10s ", 10.0), ("0", 0.0), ("90", 90.0), (90, 90.0), (0.5, 0.5)),
    ],
)
def test_durations_are_read(text: str | float, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "soon",
        "",
        "-5s",
        "5 s",
        "s",
        "1d",
        "٣s",
        -1,
        float("inf"),
        10**400,
        "9" * 400,
        "9" * 400 + "h",
    ],
)
def test_what_is_no_duration_is_refused(text: str | float) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


def test_durations_are_formatted_in_go_notation() -> None:
    assert [format_duration(s) for s in (0, 1.5, 59, 60, 90, 3600, 5400)] == [
        *("0s", "1.5s", "59s", "1m0s", "1m30s", "1h0m0s", "1h30m0s")
    ]


@given(st.integers(0, 100_000))
def test_a_formatted_duration_can_be_parsed(seconds: int) -> None:
    assert parse_duration(format_duration(seconds)) == seconds
