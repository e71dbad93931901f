from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import (
    UNREADABLE,
    Field,
    Fields,
    any_text,
    anything,
    at_home,
    between,
    count,
    duration,
    each,
    filled_text,
    flag,
    items,
    known,
    nested,
    number,
    one_of,
    optional_word,
    spoken_flag,
    whole_number,
    within,
    word,
    written,
)

ITEM = Fields({"path": Field({"type": "string"}, word), "count": Field({}, count, 1)}, ("path",))
FORM = Fields(
    {
        "content": Field({"type": "string"}, any_text),
        "mode": Field({"enum": ["a", "b"]}, one_of("a", "b"), "a"),
        "items": Field({"type": "array", "items": ITEM.schema}, each(nested(ITEM)), ()),
    },
    ("content",),
    former={"text": "content"},
)


def test_the_schema_is_made_of_the_fields() -> None:
    assert ITEM.schema == {
        "type": "object",
        "properties": {"path": {"type": "string"}, "count": {}},
        "required": ["path"],
    }
    assert Fields({}).schema == {"type": "object", "properties": {}}


def test_every_field_has_a_value_and_null_is_none() -> None:
    assert FORM.read({"content": ""}) == {"content": "", "mode": "a", "items": ()}
    assert FORM.read({"content": "x", "mode": None}) == {"content": "x", "mode": "a", "items": ()}
    read = FORM.read({"content": "x", "items": [{"path": " /a ", "count": 2}]})
    assert read["items"] == ({"path": "/a", "count": 2},)


def test_a_former_name_is_read_unless_the_present_one_is_there() -> None:
    assert FORM.read({"text": "x"})["content"] == "x"
    with pytest.raises(BadField, match="Unknown field"):
        FORM.read({"text": "x", "content": "y"})


@pytest.mark.parametrize(
    ("given", "field", "sentence"),
    [
        ({}, "content", "content is required"),
        ({"content": None}, "content", "content is required"),
        ({"text": None}, "content", "content is required"),
        ({"contents": "x"}, "contents", "unknown argument contents: did you mean content?"),
        (
            {"content": "x", "zz": None},
            "zz",
            "unknown argument zz: known: content, mode, items",
        ),
        ({"content": 5}, "content", "content must be a text"),
        ({"content": "\ud800"}, "content", "content must be a text without lone surrogates"),
        ({"content": "x", "mode": "c"}, "mode", "mode must be one of a, b"),
        ({"content": "x", "items": {}}, "items", "items must be a list"),
        ({"content": "x", "items": [5]}, "items[0]", "items[0] must be an object"),
        ({"content": "x", "items": [{}]}, "items[0].path", "items[0].path is required"),
        (
            {"content": "x", "items": [{"path": "a"}, {"pth": "a"}]},
            "items[1].pth",
            "unknown argument items[1].pth: did you mean path?",
        ),
        ([], "the input", "the input must be an object, not a JSON array or a value"),
    ],
)
def test_what_is_wrong_is_named_with_the_nearest_known_name(
    given: Any, field: str, sentence: str
) -> None:
    with pytest.raises(BadField) as caught:
        FORM.read(given)
    assert (caught.value.field, caught.value.sentence) == (field, sentence)


def test_an_object_without_fields_names_none() -> None:
    with pytest.raises(BadField) as caught:
        Fields({}).read({"a": 1})
    assert caught.value.sentence == "unknown argument a: none is known"


def test_for_http_the_name_is_quoted() -> None:
    with pytest.raises(BadField) as caught:
        known({"contents": 1}, ("content",))
    assert str(caught.value) == 'Unknown field "contents". Did you mean "content"?'
    with pytest.raises(BadField) as caught:
        flag("on", 1)
    assert (caught.value.message, caught.value.detail) == (
        UNREADABLE,
        '"on" must be true or false.',
    )


Reader = Callable[[str, Any], Any]


@pytest.mark.parametrize(
    ("read", "value", "expected"),
    [
        (one_of("x", "y"), "x", "x"),
        (whole_number, 3.0, 3),
        (whole_number, 10**30, 2**53),
        (number, 1.5, 1.5),
        (number, 10**400, 2.0**53),
        *((count, value, 3) for value in (3, "3", 3.0)),
        (within(1, 3), 3, 3),
        (between(0, 2.5), 2.5, 2.5),
        (flag, True, True),
        *((spoken_flag, value, True) for value in (True, "true", "True")),
        *((spoken_flag, value, False) for value in (False, "false")),
        (spoken_flag, "", None),
        (filled_text, " a ", " a "),
        (word, " a ", "a"),
        (optional_word, " a ", "a"),
        (optional_word, "  ", None),
        (each(word), ["a", " b"], ("a", "b")),
        (lambda name, value: items(name, value, 1, 2), [1], [1]),
        (written(each(word)), ["a"], ("a",)),
        (written(each(word)), '["a"]', ("a",)),
        (written(any_text), "[", "["),
        (anything, {"a": None}, {"a": None}),
        *((duration, value, 90.0) for value in ("1m30s", 90, "90")),
        (duration, "", None),
    ],
)
def test_a_value_is_read(read: Reader, value: Any, expected: Any) -> None:
    assert read("a", value) == expected


@pytest.mark.parametrize(
    ("read", "value", "sentence"),
    [
        *((whole_number, value, "a must be a whole number") for value in (1.5, True, "1")),
        *((number, value, "a must be a number") for value in (True, "1", float("inf"))),
        *(
            (count, value, "a must be a whole number from 0 on")
            for value in (-1, "-1", "x", 1.5, True, "9" * 20, "²", 2**53 + 1)
        ),
        (within(1, 3), 4, "a must be from 1 to 3"),
        (one_of("x", "y"), "z", "a must be one of x, y"),
        *((between(0, 2.5), value, "a must be a number from 0 to 2.5") for value in (3, True, "1")),
        *((spoken_flag, value, "a must be true or false") for value in (1, "yes")),
        *((filled_text, value, "a is required") for value in ("", "  ")),
        (word, 5, "a must be a text"),
        (optional_word, 5, "a must be a text"),
        (each(word), ["a", ""], "a[1] is required"),
        (lambda name, value: items(name, value, 1, 2), [], "a must have 1 to 2 items"),
        (lambda name, value: items(name, value, 1, 2), "x", "a must be a list"),
        (written(each(word)), "x", "a must be a list"),
        *(
            (duration, value, f'invalid a "{value}": write a duration as 30s, 5m or 1h30m')
            for value in ("soon", True, ["1m"])
        ),
    ],
)
def test_another_value_is_refused(read: Reader, value: Any, sentence: str) -> None:
    with pytest.raises(BadField) as caught:
        read("a", value)
    assert caught.value.sentence == sentence


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["content", "text", "mode", "items", "x"]), json_values))
def test_any_object_is_read_or_refused(given: dict[str, Any]) -> None:
    with suppress(BadField):
        read = FORM.read(given)
        assert read.keys() == FORM.of.keys()
        assert isinstance(read["content"], str)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("~", "/home/a"),
        ("~/", "/home/a"),
        ("~/x y/", "/home/a/x y"),
        ("~//etc", "/home/a/etc"),
        ("~root/x", "~root/x"),
        ("/~/x", "/~/x"),
        ("", ""),
    ],
)
def test_a_tilde_as_first_component_is_the_home(text: str, path: str) -> None:
    assert at_home(text, "/home/a") == path
    assert at_home(text, "/") == path.replace("/home/a/", "/").replace("/home/a", "/")
