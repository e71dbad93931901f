from typing import Any

import pytest

from deskhand.desktop.mcp.calls.arguments import choice, flag, number, seconds, text
from deskhand.desktop.mcp.errors import BadMcpArguments


def test_a_text_is_required_or_not() -> None:
    assert text({"a": "b"}, "a") == "b"
    assert text({}, "a", required=False) == ""
    assert text({"a": ""}, "a", required=False) == ""


@pytest.mark.parametrize("value", [None, "", "  ", 3, ["a"]])
def test_a_required_text_must_be_a_text_that_is_not_empty(value: Any) -> None:
    with pytest.raises(BadMcpArguments, match="a must be a text"):
        text({"a": value}, "a")


def test_a_flag_may_be_a_word() -> None:
    assert flag({"a": "True"}, "a")
    assert not flag({"a": "false"}, "a", default=True)
    assert flag({}, "a", default=True)
    assert flag({"a": True}, "a")
    with pytest.raises(BadMcpArguments, match="true or false"):
        flag({"a": "perhaps"}, "a")


def test_a_number_may_be_a_text() -> None:
    assert [number({"a": value}, "a") for value in (None, 3, 3.0, "3")] == [0, 3, 3, 3]


@pytest.mark.parametrize("value", [-1, 1.5, "x", True, [], "9" * 20])
def test_other_numbers_are_refused(value: Any) -> None:
    with pytest.raises(BadMcpArguments, match="whole number"):
        number({"a": value}, "a")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((None, 10.0), ("", 10.0), (3, 3.0), (1.5, 1.5), ("30s", 30.0), ("30", 30.0)),
        *(("1m30s", 44.0), ("1h", 44.0), (" 5s ", 5.0)),
    ],
)
def test_a_duration_is_cut_at_the_longest(value: Any, expected: float) -> None:
    assert seconds({"a": value}, "a", 10.0, 44.0) == expected


def test_the_default_is_cut_too() -> None:
    assert seconds({}, "a", 300.0, 44.0) == 44.0


@pytest.mark.parametrize("value", [-1, True, "soon", "s5", []])
def test_other_durations_are_refused(value: Any) -> None:
    with pytest.raises(BadMcpArguments, match="a duration"):
        seconds({"a": value}, "a", 10.0, 44.0)


def test_a_choice_is_one_of_its_values() -> None:
    assert choice({"a": "x"}, "a", "x", "y") == "x"
    with pytest.raises(BadMcpArguments, match="a must be x, y or z"):
        choice({}, "a", "x", "y", "z")
