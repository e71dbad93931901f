import pytest

from deskhand.tools.kit.support.arguments import (
    BadArguments,
    check_known,
    duration,
    flag,
    number,
    optional_text,
    text,
)

SCHEMA = {"type": "object", "properties": {"timeout_seconds": {}, "prompt": {}}}


def test_an_unknown_argument_is_refused_with_the_nearest_name() -> None:
    check_known({"prompt": "x", "model_intent": "why"}, SCHEMA)
    with pytest.raises(BadArguments, match="argument timeout: did you mean timeout_seconds"):
        check_known({"prompt": "x", "timeout": 3}, SCHEMA)
    with pytest.raises(BadArguments, match="known: timeout_seconds, prompt, model_intent"):
        check_known({"zzz": 3}, SCHEMA)


def test_texts() -> None:
    assert text({"a": " x "}, "a") == " x "
    assert optional_text({"a": None}, "a") == ""
    for arguments in ({}, {"a": ""}, {"a": "  "}):
        with pytest.raises(BadArguments, match="a is required"):
            text(arguments, "a")
    with pytest.raises(BadArguments, match="must be a text"):
        optional_text({"a": 1}, "a")


def test_flags() -> None:
    assert [flag({"a": value}, "a") for value in (True, False, None, "true", "False", "")] == [
        *(True, False, False, True, False, False)
    ]
    assert flag({}, "a") is False
    for value in (1, "yes"):
        with pytest.raises(BadArguments, match="true or false"):
            flag({"a": value}, "a")


def test_numbers() -> None:
    assert [number({"a": value}, "a") for value in (3, "3", 3.0, None, 0)] == [3, 3, 3, 0, 0]
    assert number({}, "a") == 0
    for value in (-1, "-1", "x", 1.5, True):
        with pytest.raises(BadArguments, match="whole number"):
            number({"a": value}, "a")


def test_durations() -> None:
    assert duration({}, "a", "10s") == 10
    assert duration({"a": ""}, "a", "10s") == 10
    assert duration({"a": 5}, "a", "10s") == 5
    wrong: list[object] = ["soon", True, []]
    for value in wrong:
        with pytest.raises(BadArguments, match="invalid a"):
            duration({"a": value}, "a", "10s")
