"""What documents of playbooks have beside those of others: a size, parameters, own sentences."""

from collections.abc import Sequence

import yaml

from deskhand.tools.documents.documents import document, fail, nearest, scalars
from deskhand.tools.documents.errors import BadDocument
from deskhand.tools.documents.fields import DocumentFields, FieldTexts
from deskhand.tools.playbooks.errors import BadPlaybook
from deskhand.tools.playbooks.texts import references

MOST_CHARACTERS = 1_000_000


def playbook_document(text: str) -> yaml.Node:
    """Return the root node of a playbook.

    Raises:
        BadPlaybook: If the text is not YAML, or too long.
    """
    if len(text) > MOST_CHARACTERS:
        raise BadPlaybook(f"a playbook has at most {MOST_CHARACTERS} characters")
    try:
        node = document(text)
    except BadDocument as error:
        raise BadPlaybook(f"this {error.problem}", error.line) from error
    if node is None:
        raise BadPlaybook("the playbook is empty")
    return node


def playbook_fields(node: yaml.Node, what: str, known: Sequence[str]) -> DocumentFields:
    """Return the fields of a mapping, whose errors are sentences about ``what``."""
    texts = FieldTexts(
        mapping=f"{{what}} must be a mapping with {', '.join(known)}",
        unknown="{what} has no key {key!r}; ",
        all_known="there are",
        twice="{what} has the key {key!r} twice",
        missing="{what} needs {key!r}",
    )
    return DocumentFields(node, what, known, texts)


def check_references(node: yaml.Node, known: Sequence[str]) -> None:
    """Check that all texts below a node name known parameters only.

    Raises:
        BadDocument: For the first reference to an unknown one.
    """
    for one in scalars(node):
        for name in references(str(one.value)):
            if name not in known:
                advice = nearest(name, known, "there are") if known else "the playbook has none"
                literal = f"write {{{{{name}}}}} for the text {{{name}}}"
                fail(one, f"there is no parameter {name!r}; {advice}; {literal}")
