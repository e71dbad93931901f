"""Typed access to a YAML document."""

import pytest

from deskhand.tools.evaluation.errors import BadTask
from deskhand.tools.evaluation.form.nodes import DocumentReader, nearest

DOCUMENT = "a: text\nb: [1, 2]\nc: 1.5\nd: {}\ne: ''\nf: null\ng: true\nh: 2026-13-45\n"


def test_values_are_read_by_their_type() -> None:
    document = DocumentReader(DOCUMENT, "x.yaml")
    fields = document.fields(document.root, "x", tuple("abcdefgh"))
    assert fields.needed("a", document.text) == "text"
    assert fields.needed("b", lambda node: document.each(node, document.count)) == (1, 2)
    assert fields.optional("c", document.positive, 0.0) == 1.5
    assert fields.optional("z", document.text, "absent") == "absent"
    assert fields.needed("e", document.content) == ""
    assert fields.line("c") == 3


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("b", "x.yaml:2: 'b' must be a text, not a list; quote it"),
        ("c", "x.yaml:3: 'c' must be a text, not a number; quote it"),
        ("d", "x.yaml:4: 'd' must be a text, not a mapping; quote it"),
        ("e", "x.yaml:5: 'e' must not be empty"),
        ("f", "x.yaml:6: 'f' must be a text, not nothing; quote it"),
        ("g", "x.yaml:7: 'g' must be a text, not true or false; quote it"),
        ("h", "x.yaml:8: 'h' cannot be read: month must be in 1..12"),
        ("y", "x.yaml:1: 'y' is missing in x"),
    ],
)
def test_a_wrong_value_is_named_with_key_and_line(key: str, expected: str) -> None:
    document = DocumentReader(DOCUMENT, "x.yaml")
    fields = document.fields(document.root, "x", tuple("abcdefgh"))
    with pytest.raises(BadTask) as error:
        fields.needed(key, document.text)
    assert str(error.value) == expected


@pytest.mark.parametrize("key", ["a", "g"])
def test_numbers_are_checked(key: str) -> None:
    document = DocumentReader(DOCUMENT, "x.yaml")
    fields = document.fields(document.root, "x", tuple("abcdefgh"))
    for read in (document.positive, document.count):
        with pytest.raises(BadTask, match="number above 0"):
            fields.needed(key, read)


def test_mistakes_of_the_document_are_named() -> None:
    with pytest.raises(BadTask, match=r"x\.yaml: is empty"):
        DocumentReader("", "x.yaml")
    with pytest.raises(BadTask, match=r"x\.yaml:2: is not YAML"):
        DocumentReader("a: [\n", "x.yaml")
    with pytest.raises(BadTask, match=r"x\.yaml: is not YAML"):
        DocumentReader("\x01", "x.yaml")
    document = DocumentReader("a: 1\na: 2\n", "x.yaml")
    with pytest.raises(BadTask, match=r"x\.yaml:2: the key 'a' is in x twice"):
        document.pairs(document.root, "x")
    one = DocumentReader("a: 1\n", "x.yaml")
    with pytest.raises(BadTask, match=r"x\.yaml:1: unknown key 'a' in x; did you mean 'aa'"):
        one.fields(one.root, "x", ("aa",))
    with pytest.raises(BadTask, match="must be a list"):
        document.items(document.root)
    with pytest.raises(BadTask, match=r"x\.yaml:1: x must be a mapping"):
        document.fields(document.root.value[0][1], "x", ())


def test_errors_of_callers_keep_line_and_text() -> None:
    document = DocumentReader("a: 1\nb: 2\n", "x.yaml")
    fields = document.fields(document.root, "x", ("a", "b"))
    assert str(fields.bad("b", "is odd")) == "x.yaml:2: 'b' is odd"
    assert str(document.bad_at(7, "odd")) == "x.yaml:7: odd"

    def refuse(_: object) -> str:
        raise document.bad_at(1, "odd")

    with pytest.raises(BadTask, match=r"x\.yaml:1: odd"):
        fields.needed("a", refuse)


def test_the_nearest_name_is_proposed() -> None:
    assert nearest("serv", ("files", "serve")) == "did you mean 'serve'?"
    assert nearest("zzz", ("files", "serve")) == "known are files, serve"
