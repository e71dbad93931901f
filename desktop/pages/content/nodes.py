"""The tree of a page: what it shows, in the order of the page. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

TEXT = "text"


class DomKey(NamedTuple):
    """Identity of an element: the document that it is in, and its number in the browser."""

    session: str
    """Session of the debugging protocol that reaches the document."""
    document: str
    """Loader of the document, another one after each navigation."""
    node: int


@dataclass(frozen=True)
class PageNode:
    """One element or text that a page shows."""

    role: str
    name: str = ""
    key: DomKey | None = None
    """Its element; None for a text."""
    value: str = ""
    description: str = ""
    url: str = ""
    states: tuple[str, ...] = ()
    interactive: bool = False
    """True for what takes clicks or keys."""
    in_view: bool = True
    """True if it is within the visible part of the page."""
    children: tuple["PageNode", ...] = ()


def walk(node: PageNode) -> Iterable[PageNode]:
    """Yield a node and all below it, in the order of the page."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting += reversed(current.children)


def subtree(root: PageNode, key: DomKey) -> PageNode | None:
    """Return the node of an element; None if the tree has it no more."""
    return next((node for node in walk(root) if node.key == key), None)
