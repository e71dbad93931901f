"""A new target in the text of a playbook, which stays as people have written it otherwise. Pure.

Writing the whole playbook again would lose comments, order and layout. So only the mapping of the
target is replaced, at its place in the text; comments inside it are put on lines after it. The
result is read again: where the text cannot be changed in this way, as with aliases, all of it is
written anew.
"""

import re
from collections.abc import Iterator

import yaml

from deskhand.tools.documents.errors import BadDocument
from deskhand.tools.documents.fields import DocumentFields
from deskhand.tools.documents.values import items
from deskhand.tools.playbooks.errors import PlaybookError
from deskhand.tools.playbooks.playbook import Playbook

from .fields import playbook_document
from .form import PLAYBOOK_KEYS, STEP_KEYS, read_playbook
from .writing import write_playbook, write_target

_COMMENT = re.compile(r"#[^\n]*")


def with_target(text: str, changed: Playbook, number: int, part: str) -> str:
    """Return the text of a playbook of which the target of one step was changed.

    ``number`` counts the steps from 0; ``part`` is the key of the target.
    """
    step = changed.steps[number]
    target = step.target if part == "target" else step.to
    try:
        if target is not None:
            new = _replaced(text, number, part, write_target(target))
            if read_playbook(new) == changed:
                return new
    except (PlaybookError, BadDocument, IndexError):
        # The text was edited meanwhile, or an alias of the target has lost its anchor.
        pass
    return write_playbook(changed)


def _replaced(text: str, number: int, part: str, mapping: str) -> str:
    steps = DocumentFields(playbook_document(text), "the playbook", PLAYBOOK_KEYS).required("steps")
    fields = DocumentFields(items(steps, "steps")[number], "the step", STEP_KEYS)
    end = _end(fields.required(part))
    begin = fields.key_of(part).end_mark.index
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    indent = " " * fields.key_of(part).start_mark.column
    comments = "".join(f"\n{indent}{one}" for one in _comments(text, begin, end))
    return f"{text[:begin]}: {mapping}{text[end:line_end]}{comments}{text[line_end:]}"


def _end(node: yaml.Node) -> int:
    """Return where a node ends; a block would end where the next token begins."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        inner = [
            one for pair in node.value for one in (pair if isinstance(pair, tuple) else (pair,))
        ]
        return max(_end(one) for one in inner)
    return int(node.end_mark.index)


def _comments(text: str, begin: int, end: int) -> Iterator[str]:
    """Yield the comments between two places: what is between tokens is comment or blank."""
    last = begin
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        start = token.start_mark.index
        if begin < start and last < end:
            yield from _COMMENT.findall(text[last : min(start, end)])
        last = max(last, token.end_mark.index)
