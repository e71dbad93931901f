"""Documents of YAML as nodes, which know their lines.

Playbooks, tasks of evaluations and templates are files that people write by hand. Their forms read
the nodes of the document instead of its values: a node has a line, and a mapping of nodes still has
the keys that YAML would drop because they appear twice. Every mistake is a ``BadDocument`` with the
line. The forms catch it where they begin, and raise the error of their own files.

``fields`` reads mappings with known keys, ``values`` reads single values.
"""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import NoReturn

import yaml

from .errors import BadDocument


def document(text: str) -> yaml.Node | None:
    """Return the root node of a document, or ``None`` if there is nothing in it.

    Raises:
        BadDocument: If the text is not one document of YAML.
    """
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise BadDocument(f"is not YAML: {error.problem}", line) from error
    except yaml.YAMLError as error:
        raise BadDocument(f"is not YAML: {error}") from error
    except RecursionError:
        raise BadDocument("is nested too deeply") from None


def line_of(node: yaml.Node) -> int:
    """Return the line of a node, counted from 1."""
    return int(node.start_mark.line) + 1


def fail(node: yaml.Node, problem: str) -> NoReturn:
    """Raise the error with the line of a node."""
    raise BadDocument(problem, line_of(node))


def nearest(name: str, known: Sequence[str], otherwise: str = "known are") -> str:
    """Return the end of a sentence about an unknown name: the nearest one, or all."""
    near = get_close_matches(name, known, 1, 0.6)
    return f"did you mean {near[0]!r}?" if near else f"{otherwise} {', '.join(known)}"


def scalars(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    """Yield the scalars below a node in their order, but no keys of mappings."""
    # Each node once: aliases may repeat or contain a node without end.
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, yaml.ScalarNode):
            yield one
        elif isinstance(one, yaml.SequenceNode):
            waiting += reversed(one.value)
        else:
            waiting += reversed([value for _, value in one.value])
