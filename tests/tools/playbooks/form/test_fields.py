from collections.abc import Callable

import pytest

from deskhand.tools.playbooks.errors import BadPlaybook
from deskhand.tools.playbooks.form.fields import Fields, check_references, document, nearest

KEYS = ("text", "texts", "flag", "choice", "number", "whole", "point")


def _fields(text: str) -> Fields:
    return Fields(document(text), "it", KEYS)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "the playbook is empty"),
        ("a: [", "line 1: this is not YAML: "),
        ("a:\n  - b\n c", "line 3: this is not YAML: "),
        ("a: \x00", "this is not YAML: "),
        ("[" * 100_000, "this is nested too deeply"),
        ("a" * 1_000_001, "a playbook has at most 1000000 characters"),
        ("--- a\n--- b", "line 2: this is not YAML: "),
        ("a: *b", "line 1: this is not YAML: found undefined alias 'b'"),
    ],
)
def test_text_that_is_no_yaml_is_refused(text: str, error: str) -> None:
    with pytest.raises(BadPlaybook) as raised:
        document(text)
    assert str(raised.value).startswith(error)


def test_fields_are_read() -> None:
    one = _fields(
        "{text: a, texts: [b, 3], flag: True, choice: up, number: 1.5, whole: 2, point: [3, 4]}"
    )
    assert one.text("text") == "a"
    assert one.texts("texts") == ("b", "3")
    assert one.flag("flag") is True
    assert one.choice("choice", ("up", "down")) == "up"
    assert one.number("number", 0, least=0, most=9) == 1.5
    assert one.integer("whole", 0, least=0, most=9) == 2
    assert one.integers("point", "[x, y]") == (3, 4)
    assert [node.value for node in one.each("texts")] == ["b", "3"]
    assert "text" in one


def test_missing_fields_have_defaults() -> None:
    one = _fields("{}")
    assert (one.text("text"), one.text("text", "b"), one.texts("texts")) == ("", "b", ())
    assert (one.flag("flag"), one.choice("choice", ("up",), "up")) == (None, "up")
    assert one.number("number", 1.5, least=0, most=9) == 1.5
    assert one.integer("whole", 3, least=0, most=9) == 3
    assert one.integers("point", "[x, y]") is None
    assert list(one.each("texts")) == []
    assert one.node_of("text") is None


def test_one_text_is_a_list_of_it() -> None:
    assert _fields("texts: a").texts("texts") == ("a",)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{text: a, text: b}", "it has the key 'text' twice"),
        ("{txt: a}", "it has no key 'txt'; did you mean 'text'?"),
        ("{zzz: a}", "it has no key 'zzz'; there are text, texts"),
        ("{[a]: a}", "a key of it must be a text"),
        ("a", "it must be a mapping with text"),
    ],
)
def test_keys_are_checked(text: str, error: str) -> None:
    with pytest.raises(BadPlaybook) as raised:
        _fields(text)
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("text: {a}", "text must be a text; put a text that begins with { in quotes"),
        ("text:", "text must be a text"),
        ("text: []", "text must be a text"),
        ("text: ''", "text must not be empty"),
        ("texts: {}", "texts must be a list"),
        ("texts: [{}]", "each of texts must be a text"),
        ("flag: 3", "flag must be true or false"),
        ("choice: left", "choice 'left' is unknown; there are up, down"),
        ("number: a", "number must be a number"),
        ("number: .inf", "number must be a number"),
        ("number: nan", "number must be from 0 to 9"),
        ("number: 10", "number must be from 0 to 9"),
        ("whole: 1.5", "whole must be a whole number"),
        ("point: [1]", "point must be [x, y]"),
        ("point: [1, -2]", "each number of point must be from 0 to"),
    ],
)
def test_values_are_checked(text: str, error: str) -> None:
    one = _fields(text)
    reads: dict[str, Callable[[str], object]] = {
        "text": one.text,
        "texts": one.texts,
        "flag": one.flag,
        "choice": lambda key: one.choice(key, ("up", "down")),
        "number": lambda key: one.number(key, 0, least=0, most=9),
        "whole": lambda key: one.integer(key, 0, least=0, most=9),
        "point": lambda key: one.integers(key, "[x, y]"),
    }
    key = text.split(":")[0]
    with pytest.raises(BadPlaybook) as raised:
        reads[key](key)
    assert str(raised.value).startswith(f"line 1: {error}")


def test_a_required_field_must_be_there() -> None:
    assert _fields("text: a").required("text").value == "a"
    with pytest.raises(BadPlaybook, match="line 1: it needs 'flag'"):
        _fields("text: a").required("flag")


def test_references_are_checked_everywhere_in_a_node() -> None:
    check_references(document("{a: ['{town}', {b: '{{x}}'}]}"), ("town",))
    with pytest.raises(BadPlaybook) as raised:
        check_references(document("a:\n  - '{town}'\n  - b: '{tow}'"), ("town",))
    assert str(raised.value) == (
        "line 3: there is no parameter 'tow'; did you mean 'town'?;"
        " write {{tow}} for the text {tow}"
    )
    with pytest.raises(BadPlaybook, match="the playbook has none"):
        check_references(document("'{town}'"), ())


def test_references_of_a_node_that_contains_itself_are_checked() -> None:
    check_references(document("&a [*a, '{town}']"), ("town",))


def test_the_nearest_name_is_proposed() -> None:
    assert nearest("cick", ("click", "type")) == "did you mean 'click'?"
    assert nearest("x", ("click", "type")) == "there are click, type"
