import pytest

from deskhand.tools.documents.documents import document, fail, line_of, nearest, scalars
from deskhand.tools.documents.errors import BadDocument


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: [", 1, "is not YAML: "),
        ("a: [\n", 2, "is not YAML: "),
        ("a:\n  - b\n c", 3, "is not YAML: "),
        ("a: \x00", None, "is not YAML: "),
        ("[" * 100_000, None, "is nested too deeply"),
        ("--- a\n--- b", 2, "is not YAML: "),
        ("a: *b", 1, "is not YAML: found undefined alias 'b'"),
    ],
)
def test_text_that_is_no_yaml_is_refused(text: str, line: int | None, problem: str) -> None:
    with pytest.raises(BadDocument) as raised:
        document(text)
    assert raised.value.line == line
    assert raised.value.problem.startswith(problem)


def test_an_empty_document_has_no_node() -> None:
    assert document("# nothing\n") is None


def test_nodes_have_lines() -> None:
    root = document("\n\na: b")
    assert root is not None
    assert line_of(root) == 3
    with pytest.raises(BadDocument) as raised:
        fail(root, "odd")
    assert (raised.value.problem, raised.value.line) == ("odd", 3)


def test_the_nearest_name_is_proposed() -> None:
    assert nearest("cick", ("click", "type")) == "did you mean 'click'?"
    assert nearest("x", ("click", "type")) == "known are click, type"
    assert nearest("x", ("click", "type"), "there are") == "there are click, type"


def test_scalars_below_a_node_are_found_once() -> None:
    root = document("&a [*a, b, {c: [d, e]}, &f g, *f]")
    assert root is not None
    assert [one.value for one in scalars(root)] == ["b", "d", "e", "g"]
