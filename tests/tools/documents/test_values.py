from collections.abc import Callable

import pytest
import yaml

from deskhand.tools.documents.documents import document
from deskhand.tools.documents.errors import BadDocument
from deskhand.tools.documents.values import (
    content,
    count,
    each,
    integer,
    is_null,
    items,
    number,
    positive,
    scalar,
    text,
    value,
)


def _node(source: str) -> yaml.Node:
    node = document(source)
    assert node is not None
    return node


def test_values_are_read() -> None:
    assert scalar(_node("3"), "it") == "3"
    assert [is_null(_node(one)) for one in ("~", "''", "[]")] == [True, False, False]
    assert number(_node("1.5"), "it", 0, 9) == 1.5
    assert integer(_node("2.0"), "it", 0, 9) == 2
    assert text(_node("a b")) == "a b"
    assert content(_node("''")) == ""
    assert (positive(_node("0.5")), count(_node("4"))) == (0.5, 4)
    assert [item.value for item in items(_node("[a, b]"), "it")] == ["a", "b"]
    assert each(_node("[a, b]"), text) == ("a", "b")
    assert value(_node("{a: [1, true, null]}")) == {"a": [1, True, None]}


READS: dict[str, Callable[[yaml.Node], object]] = {
    "scalar": lambda node: scalar(node, "it"),
    "number": lambda node: number(node, "it", 0, 9),
    "integer": lambda node: integer(node, "it", 0, 9),
    "items": lambda node: items(node, "it"),
    "each": lambda node: each(node, text),
    "text": text,
    "content": content,
    "positive": positive,
    "count": count,
    "value": value,
}


@pytest.mark.parametrize(
    ("read", "source", "problem"),
    [
        ("scalar", "{a}", "it must be a text; put a text that begins with { in quotes"),
        ("scalar", "[a]", "it must be a text"),
        ("scalar", "~", "it must be a text"),
        ("number", "a", "it must be a number"),
        ("number", ".inf", "it must be a number"),
        ("number", "nan", "it must be from 0 to 9"),
        ("number", "10", "it must be from 0 to 9"),
        ("integer", "1.5", "it must be a whole number"),
        ("items", "a", "it must be a list"),
        ("each", "a", "must be a list"),
        ("text", "' '", "must not be empty"),
        ("content", "3", "must be a text, not a number; quote it"),
        ("content", "yes", "must be a text, not true or false; quote it"),
        ("content", "~", "must be a text, not nothing; quote it"),
        ("content", "[a]", "must be a text, not a list; quote it"),
        ("content", "{a: b}", "must be a text, not a mapping; quote it"),
        ("positive", "0", "must be a number above 0"),
        ("positive", "true", "must be a number above 0"),
        ("positive", "a", "must be a number above 0"),
        ("count", "0", "must be a whole number above 0"),
        ("count", "true", "must be a whole number above 0"),
        ("count", "1.5", "must be a whole number above 0"),
        ("value", "2026-13-45", "cannot be read: month must be in 1..12"),
        ("value", "!!python/object:a b", "cannot be read: could not determine a constructor"),
    ],
)
def test_wrong_values_are_refused_with_their_line(read: str, source: str, problem: str) -> None:
    with pytest.raises(BadDocument) as raised:
        READS[read](_node(f"\n{source}"))
    assert raised.value.line == 2
    assert raised.value.problem.startswith(problem)
