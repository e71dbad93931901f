from collections.abc import Callable

import pytest
import yaml

from deskhand.tools.documents.documents import document
from deskhand.tools.documents.errors import BadDocument
from deskhand.tools.documents.fields import DocumentFields, FieldTexts, pairs
from deskhand.tools.documents.values import content, count, each, positive, text

KEYS = ("text", "texts", "flag", "choice", "number", "whole", "point")
TYPED = "a: text\nb: [1, 2]\nc: 1.5\nd: {}\ne: ''\nf: null\ng: true\nh: 2026-13-45\n"


def _root(source: str) -> yaml.Node:
    root = document(source)
    assert root is not None
    return root


def _fields(source: str) -> DocumentFields:
    return DocumentFields(_root(source), "it", KEYS)


def _typed() -> DocumentFields:
    return DocumentFields(_root(TYPED), "x", tuple("abcdefghy"))


def _error(raised: pytest.ExceptionInfo[BadDocument]) -> tuple[int | None, str]:
    return raised.value.line, raised.value.problem


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
    ("source", "error"),
    [
        ("{text: a, text: b}", "the key 'text' is in it twice"),
        ("{txt: a}", "unknown key 'txt' in it; did you mean 'text'?"),
        ("{zzz: a}", "unknown key 'zzz' in it; known are text, texts"),
        ("{[a]: a}", "a key of it must be a text"),
        ("a", "it must be a mapping of keys to values"),
    ],
)
def test_keys_are_checked(source: str, error: str) -> None:
    with pytest.raises(BadDocument) as raised:
        _fields(source)
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("text: {a}", "text must be a text; put a text that begins with { in quotes"),
        ("text:", "text must be a text"),
        ("text: []", "text must be a text"),
        ("text: ''", "text must not be empty"),
        ("texts: {}", "texts must be a list"),
        ("texts: [{}]", "each of texts must be a text"),
        ("flag: 3", "flag must be true or false"),
        ("choice: left", "choice 'left' is unknown; known are up, down"),
        ("number: a", "number must be a number"),
        ("number: .inf", "number must be a number"),
        ("number: nan", "number must be from 0 to 9"),
        ("number: 10", "number must be from 0 to 9"),
        ("whole: 1.5", "whole must be a whole number"),
        ("point: [1]", "point must be [x, y]"),
        ("point: [1, -2]", "each number of point must be from 0 to"),
    ],
)
def test_values_are_checked(source: str, error: str) -> None:
    one = _fields(source)
    reads: dict[str, Callable[[str], object]] = {
        "text": one.text,
        "texts": one.texts,
        "flag": one.flag,
        "choice": lambda key: one.choice(key, ("up", "down")),
        "number": lambda key: one.number(key, 0, least=0, most=9),
        "whole": lambda key: one.integer(key, 0, least=0, most=9),
        "point": lambda key: one.integers(key, "[x, y]"),
    }
    key = source.split(":")[0]
    with pytest.raises(BadDocument) as raised:
        reads[key](key)
    assert raised.value.line == 1
    assert raised.value.problem.startswith(error)


def test_a_required_field_must_be_there() -> None:
    assert _fields("text: a").required("text").value == "a"
    with pytest.raises(BadDocument, match="'flag' is missing in it"):
        _fields("text: a").required("flag")


def test_sentences_about_keys_are_those_of_the_form() -> None:
    texts = FieldTexts("{what}?", "{key} of {what}: ", "all", "two {key}", "no {key}")
    with pytest.raises(BadDocument, match=r"it\?"):
        DocumentFields(_root("a"), "it", KEYS, texts)
    with pytest.raises(BadDocument, match="zzz of it: all text, texts"):
        DocumentFields(_root("zzz: a"), "it", KEYS, texts)
    with pytest.raises(BadDocument, match="two text"):
        DocumentFields(_root("{text: a, text: b}"), "it", KEYS, texts)
    with pytest.raises(BadDocument, match="no flag"):
        DocumentFields(_root("{}"), "it", KEYS, texts).required("flag")


def test_values_are_read_by_their_type() -> None:
    fields = _typed()
    assert fields.needed("a", text) == "text"
    assert fields.needed("b", lambda node: each(node, count)) == (1, 2)
    assert fields.optional("c", positive, 0.0) == 1.5
    assert fields.optional("y", text, "absent") == "absent"
    assert fields.needed("e", content) == ""
    assert fields.line("c") == 3
    assert fields.key_of("c").value == "c"


@pytest.mark.parametrize(
    ("key", "line", "expected"),
    [
        ("b", 2, "'b' must be a text, not a list; quote it"),
        ("c", 3, "'c' must be a text, not a number; quote it"),
        ("d", 4, "'d' must be a text, not a mapping; quote it"),
        ("e", 5, "'e' must not be empty"),
        ("f", 6, "'f' must be a text, not nothing; quote it"),
        ("g", 7, "'g' must be a text, not true or false; quote it"),
        ("h", 8, "'h' cannot be read: month must be in 1..12"),
        ("y", 1, "'y' is missing in x"),
    ],
)
def test_a_wrong_value_is_named_with_key_and_line(key: str, line: int, expected: str) -> None:
    with pytest.raises(BadDocument) as raised:
        _typed().needed(key, text)
    assert _error(raised) == (line, expected)


def test_errors_of_callers_keep_line_and_text() -> None:
    fields = _typed()
    with pytest.raises(BadDocument) as raised:
        fields.fail("b", "is odd")
    assert _error(raised) == (2, "'b' is odd")

    def refuse(_: object) -> str:
        raise BadDocument("odd", 7)

    with pytest.raises(BadDocument) as raised:
        fields.needed("a", refuse)
    assert _error(raised) == (7, "odd")


def test_any_keys_are_read_if_each_is_there_once() -> None:
    assert [*pairs(_root("{a/b: 1, c: 2}"), "x")] == ["a/b", "c"]
    for source, error in (
        ("a: 1\na: 2\n", "the key 'a' is in x twice"),
        ("3: a", "must be a text, not a number; quote it"),
        ("a", "x must be a mapping of keys to values"),
    ):
        with pytest.raises(BadDocument, match=error):
            pairs(_root(source), "x")
