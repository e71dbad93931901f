import pytest

from deskhand.tools.control_plane.errors import BadBody
from deskhand.tools.control_plane.json_body import flag, json_object, needed_text, only, text


def test_an_object_is_read() -> None:
    assert json_object('{"a": {"b": [1, "ü"]}}'.encode()) == {"a": {"b": [1, "ü"]}}


def test_no_body_is_an_empty_object() -> None:
    assert json_object(b"") == json_object(b" \n") == {}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"[1]", "The body must be a JSON object. It is a list."),
        (b"null", "The body must be a JSON object. It is null."),
        (b'"a"', "The body must be a JSON object. It is a text."),
        (b"1.5", "The body must be a JSON object. It is a number."),
        (b"true", "The body must be a JSON object. It is true or false."),
        (
            b"{",
            "The body is not valid JSON. Expecting property name enclosed in double quotes: "
            "line 1 column 2 (char 1).",
        ),
        (b'{"a": NaN}', "The body is not valid JSON. NaN is not a JSON value."),
        (b"[" * 100_000, "The body is not valid JSON. It is nested too deeply."),
    ],
)
def test_anything_else_is_refused_with_the_reason(body: bytes, expected: str) -> None:
    with pytest.raises(BadBody) as refused:
        json_object(body)
    assert str(refused.value) == expected


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(BadBody, match="not valid JSON"):
        json_object(b'{"a": "\xff"}')
    with pytest.raises(BadBody, match="not valid JSON"):
        json_object(b'{"a": "\\ud800"}')


def test_a_misspelt_field_is_named() -> None:
    only({"name": 1}, "name", "title")
    with pytest.raises(BadBody) as refused:
        only({"nmae": 1, "name": 2}, "name", "title")
    assert str(refused.value) == "Unknown field: nmae. Known fields: name, title."


def test_a_text_may_be_absent_and_has_a_longest_length() -> None:
    assert text({}, "title", longest=3) is None
    assert text({"title": "abc"}, "title", longest=3) == "abc"
    with pytest.raises(BadBody, match=r"title is too long\. It has 4 characters of 3\."):
        text({"title": "abcd"}, "title", longest=3)
    with pytest.raises(BadBody, match=r"title must be a text\. It is an object\."):
        text({"title": {}}, "title", longest=3)


@pytest.mark.parametrize("body", [{}, {"message": None}, {"message": ""}, {"message": " \n"}])
def test_a_needed_text_must_not_be_blank(body: dict[str, object]) -> None:
    with pytest.raises(BadBody) as refused:
        needed_text(body, "message", longest=10)
    assert str(refused.value) == "message is required."


def test_a_needed_text_is_returned_as_it_came() -> None:
    assert needed_text({"message": " a "}, "message", longest=10) == " a "


def test_a_flag_is_true_or_false() -> None:
    assert flag({"interrupt": True}, "interrupt") is True
    assert flag({}, "interrupt") is False
    with pytest.raises(BadBody, match=r"interrupt must be true or false\. It is a number\."):
        flag({"interrupt": 1}, "interrupt")
