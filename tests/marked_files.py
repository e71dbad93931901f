"""Files that can hold a test for an expression of ``-m``, judged by their text.

Importing all test files takes each worker six seconds, and most targets run few of them.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations

_MARK = re.compile(r"\bmark\.(\w+)")


def may_hold(text: str, expression: str) -> bool:
    """Return whether a test in a file of this text can match an expression of markers.

    A file names each marker of its tests as ``mark.NAME``; a test has any of them.
    """
    named = frozenset(_MARK.findall(text)) & _names(expression)
    return any(_matches(expression, has) for has in _subsets(named))


@cache
def _names(expression: str) -> frozenset[str]:
    tree = ast.walk(ast.parse(expression.strip() or "True", mode="eval"))
    return frozenset(node.id for node in tree if isinstance(node, ast.Name))


@cache
def _matches(expression: str, has: frozenset[str]) -> bool:
    # The syntax of these expressions is that of Python.
    names = {name: name in has for name in _names(expression)}
    return bool(eval(expression.strip() or "True", {"__builtins__": {}}, names))


def _subsets(names: frozenset[str]) -> Iterator[frozenset[str]]:
    for size in range(len(names) + 1):
        yield from map(frozenset, combinations(sorted(names), size))
