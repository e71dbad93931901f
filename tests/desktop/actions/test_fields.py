import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.actions.fields import FIELDS, LONGEST_TEXT
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.fields import UNREADABLE
from deskhand.desktop.geometry import Point, Region


def read(name: str, value: Any) -> Any:
    return FIELDS[name].read(name, value)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("coordinate", [0, 0], Point(0, 0)),
        ("coordinate", [3.0, -2], Point(3, -2)),
        ("coordinate", [10**30, 1e300], Point(2**53, 2**53)),
        ("path", [[1, 2], [3, 4]], (Point(1, 2), Point(3, 4))),
        ("region", [1, 2, 3, 4], Region(1, 2, 3, 4)),
        ("text", "", ""),
        ("modifiers", ["ctrl"], ("ctrl",)),
        ("duration", 0.25, 0.25),
        ("duration", 100, 100.0),
        ("duration_ms", 250, 0.25),
        ("delay_ms", 1000, 1000),
        ("hosts", ["a.example", "b"], ("a.example", "b")),
        ("scroll_amount", 0, 0),
        ("scroll_pixels", 400, 400),
        ("scroll_direction", "left", "left"),
        ("format", "webp", "webp"),
        ("quality", 1, 1),
        ("cursor", False, False),
        ("since", "a-1", "a-1"),
    ],
)
def test_a_value_of_the_right_kind_is_read(name: str, value: Any, expected: Any) -> None:
    assert read(name, value) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coordinate", [1]),
        ("coordinate", [1, 2, 3]),
        ("coordinate", "1,2"),
        ("coordinate", {"x": 1, "y": 2}),
        ("coordinate", [1.5, 2]),
        ("coordinate", [True, 2]),
        ("coordinate", [math.nan, 2]),
        ("coordinate", [math.inf, 2]),
        ("coordinate", ["1", "2"]),
        ("coordinate", [None, 2]),
        ("path", [[1, 2], 3]),
        ("path", "path"),
        ("region", [1, 2, 3]),
        ("region", 7),
        ("text", 5),
        ("modifiers", "ctrl"),
        ("modifiers", [5]),
        ("duration", "1"),
        ("duration", True),
        ("duration", math.nan),
        ("duration_ms", [1]),
        ("scroll_amount", 1.5),
        ("scroll_direction", 1),
        ("cursor", "yes"),
    ],
)
def test_a_value_of_another_kind_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidAction) as caught:
        read(name, value)
    assert caught.value.message == UNREADABLE
    assert f'"{name}"' in caught.value.detail


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scroll_amount", -1, '"scroll_amount" must be from 0 to 1000.'),
        ("scroll_amount", 1001, '"scroll_amount" must be from 0 to 1000.'),
        ("quality", 0, '"quality" must be from 1 to 100.'),
        ("scroll_direction", "north", "Invalid scroll direction: north"),
        ("format", "gif", '"format" must be one of png, jpeg, webp.'),
        ("format", ["png"], '"format" must be one of png, jpeg, webp.'),
        ("duration", 101, '"duration" must be from 0 to 100 seconds.'),
        ("duration", 300, '"duration" must be from 0 to 100 seconds.'),
        ("duration", -1, '"duration" must be from 0 to 100 seconds.'),
        ("duration_ms", 100_001, '"duration_ms" must be from 0 to 100000 milliseconds.'),
        ("path", [[1, 2]], '"path" must have 2 to 10000 items.'),
        ("path", [[1, 2]] * 10_001, '"path" must have 2 to 10000 items.'),
        ("hosts", [], '"hosts" must have 1 to 16 items.'),
        ("hosts", ["a b"], '"hosts" must be hosts or domains, as mail.example.'),
        ("modifiers", ["a"] * 17, '"modifiers" must have 0 to 16 items.'),
        ("text", "x" * (LONGEST_TEXT + 1), '"text" must have at most 100000 characters.'),
    ],
)
def test_a_value_beyond_a_limit_is_refused_with_the_limit(
    name: str, value: Any, message: str
) -> None:
    with pytest.raises(InvalidAction) as caught:
        read(name, value)
    assert caught.value.message == message


@pytest.mark.parametrize("value", [301, 500, 1000.5, 10**400])
def test_the_error_of_a_duration_in_milliseconds_names_the_right_field(value: float) -> None:
    with pytest.raises(InvalidAction, match="seconds") as caught:
        read("duration", value)
    assert "duration_ms" in caught.value.detail


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.sampled_from(sorted(FIELDS)), json_values)
def test_any_json_value_is_read_or_refused(name: str, value: Any) -> None:
    try:
        read(name, value)
    except InvalidAction as error:
        assert f'"{name}"' in str(error) or "direction" in str(error)  # noqa: PT017
