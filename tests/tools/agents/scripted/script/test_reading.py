"""Reading values of a request's JSON."""

import base64
from collections.abc import Callable

import pytest

from deskhand.tools.agents.scripted.script import reading
from deskhand.tools.agents.scripted.script.request import InvalidRequest, Measured

TINY = Measured("image/png", 4, 3)


def problem_of(call: Callable[[], object]) -> str:
    """Return the text of the error with which a value is refused."""
    with pytest.raises(InvalidRequest) as caught:
        call()
    return str(caught.value)


def test_a_rule_that_is_kept_passes() -> None:
    reading.check(True, "tools", "must be there")
    assert problem_of(lambda: reading.check(False, "tools", "must be there")) == (
        "tools: must be there"
    )


def test_objects_and_lists_are_returned_as_they_are() -> None:
    assert reading.read_object({"a": 1}, "tools.0") == {"a": 1}
    assert reading.read_list([1], "tools") == [1]


@pytest.mark.parametrize("value", [None, 1, "a", True])
def test_other_values_are_no_object_and_no_list(value: object) -> None:
    assert problem_of(lambda: reading.read_object(value, "a")) == "a: must be an object"
    assert problem_of(lambda: reading.read_list(value, "a")) == "a: must be a list"


@pytest.mark.parametrize("data", [{}, {"name": ""}, {"name": 3}])
def test_a_text_must_be_there_and_not_empty(data: dict[str, object]) -> None:
    assert reading.read_string({"name": "key"}, "name", "tools.0") == "key"
    problem = problem_of(lambda: reading.read_string(data, "name", "tools.0"))
    assert problem == "tools.0.name: must be a text"


def test_the_first_unknown_key_is_refused() -> None:
    reading.check_keys({"type": "a"}, {"type", "name"}, "tools.0")
    problem = problem_of(lambda: reading.check_keys({"type": 1, "typo": 2}, {"type"}, "tools.0"))
    assert problem == "tools.0.typo: is not a key of this object"


@pytest.mark.parametrize(
    ("value", "whole"),
    [(1, True), (9, True), (0, False), (10, False), (True, False), (2.0, False), ("2", False)],
)
def test_a_whole_number_is_within_its_limits(value: object, whole: bool) -> None:
    assert reading.is_whole(value, 1, 9) is whole


@pytest.mark.parametrize("text", ["a", "????", "Zm9v!", "é"])
def test_damaged_base64_is_refused(text: str) -> None:
    assert problem_of(lambda: reading.read_base64(text, "data")) == "data: is not base64"


def test_a_picture_has_its_bytes_and_its_size() -> None:
    text = base64.b64encode(b"pixels").decode()
    seen = reading.read_picture(text, lambda data: TINY, "data")
    assert (seen.data, seen.measured) == (b"pixels", TINY)


def test_bytes_of_an_unknown_format_are_no_picture() -> None:
    text = base64.b64encode(b"words").decode()
    problem = problem_of(lambda: reading.read_picture(text, lambda data: None, "data"))
    assert problem == "data: is no picture"
