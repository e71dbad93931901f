import pytest
import yaml

from deskhand.tools.documents.documents import document
from deskhand.tools.documents.errors import BadDocument
from deskhand.tools.playbooks.errors import BadPlaybook
from deskhand.tools.playbooks.form.fields import (
    check_references,
    playbook_document,
    playbook_fields,
)


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
        playbook_document(text)
    assert str(raised.value).startswith(error)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{text: a, text: b}", "it has the key 'text' twice"),
        ("{txt: a}", "it has no key 'txt'; did you mean 'text'?"),
        ("{zzz: a}", "it has no key 'zzz'; there are text, flag"),
        ("{[a]: a}", "a key of it must be a text"),
        ("a", "it must be a mapping with text"),
    ],
)
def test_keys_are_checked(text: str, error: str) -> None:
    with pytest.raises(BadDocument, match=error.replace("?", ".")):
        playbook_fields(playbook_document(text), "it", ("text", "flag"))


def test_a_required_field_must_be_there() -> None:
    fields = playbook_fields(playbook_document("text: a"), "it", ("text", "flag"))
    with pytest.raises(BadDocument, match="it needs 'flag'"):
        fields.required("flag")


def _root(text: str) -> yaml.Node:
    root = document(text)
    assert root is not None
    return root


def test_references_are_checked_everywhere_in_a_node() -> None:
    check_references(_root("{a: ['{town}', {b: '{{x}}'}]}"), ("town",))
    with pytest.raises(BadDocument) as raised:
        check_references(_root("a:\n  - '{town}'\n  - b: '{tow}'"), ("town",))
    assert raised.value.line == 3
    assert raised.value.problem == (
        "there is no parameter 'tow'; did you mean 'town'?; write {{tow}} for the text {tow}"
    )
    with pytest.raises(BadDocument, match="the playbook has none"):
        check_references(_root("'{town}'"), ())


def test_references_of_a_node_that_contains_itself_are_checked() -> None:
    check_references(_root("&a [*a, '{town}']"), ("town",))
