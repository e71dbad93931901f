"""Text of a page's tree: one line for each element, with its ref. Pure."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .nodes import TEXT, DomKey, PageNode

LONGEST = 50_000
"""Characters of a text."""
LONGEST_NAME = 300
LONGEST_URL = 120
_CUT = "[cut at {most:,} characters: read a part with ref, or with a smaller depth]"
_DEEPER = "[{count} elements are deeper: read them with ref or a larger depth]"


@dataclass(frozen=True)
class PageFilter:
    """Which elements are written."""

    interactive: bool = False
    """Only what takes clicks or keys, on the whole page."""
    depth: int = 15
    in_view: bool = False
    """Only what is within the visible part of the page."""


def page_lines(root: PageNode, wanted: PageFilter, ref: Callable[[DomKey], str]) -> str:
    """Return the text of a tree; ``ref`` returns the ref of an element."""
    writer = _Writer(wanted, ref)
    lines, length = [], 0
    for line in writer.lines(root):
        if length + len(line) + 1 > LONGEST - len(_CUT) - 20:
            lines.append(_CUT.format(most=LONGEST))
            break
        lines.append(line)
        length += len(line) + 1
    if writer.deeper:
        lines.append(_DEEPER.format(count=writer.deeper))
    return "\n".join(lines)


def described(node: PageNode) -> str:
    """Return an element in words, as ``button "Send" (disabled)``."""
    parts = [node.role]
    if node.name:
        parts.append(f'"{shortened(node.name, LONGEST_NAME)}"')
    if node.value and node.value != node.name:
        parts.append(f'value="{shortened(node.value, LONGEST_NAME)}"')
    if node.description and node.description not in (node.name, node.value):
        parts.append(f'described="{shortened(node.description, LONGEST_NAME)}"')
    if node.url:
        parts.append(f"url={shortened(node.url, LONGEST_URL)}")
    return " ".join([*parts, *([f"({', '.join(node.states)})"] if node.states else [])])


def shortened(text: str, most: int) -> str:
    """Return a text on one line, cut at so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


class _Writer:
    def __init__(self, wanted: PageFilter, ref: Callable[[DomKey], str]) -> None:
        self._wanted = wanted
        self._ref = ref
        self.deeper = 0

    def lines(self, root: PageNode) -> Iterator[str]:
        waiting = [(root, 0)]
        while waiting:
            node, depth = waiting.pop()
            shown = self._is_shown(node)
            if shown and depth >= self._wanted.depth:
                self.deeper += 1
                continue
            if shown:
                yield self._line(node, depth)
            waiting += [(child, depth + shown) for child in reversed(node.children)]

    def _line(self, node: PageNode, depth: int) -> str:
        indent = "" if self._wanted.interactive else " " * depth
        if node.role == TEXT:
            return f'{indent}"{shortened(node.name, LONGEST_NAME)}"'
        name = "" if node.key is None else f" [{self._ref(node.key)}]"
        return indent + described(node) + name

    def _is_shown(self, node: PageNode) -> bool:
        if self._wanted.interactive:
            return node.interactive
        return node.in_view or not self._wanted.in_view
