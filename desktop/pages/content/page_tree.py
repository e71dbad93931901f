"""The tree of a page from snapshots of its documents. Pure.

Documents of frames are put below the elements that show them, also those of other processes. Left
out is what is not painted, what only contains other elements, and texts that repeat the name of
the element around them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .elements import INTERACTIVE, NAMED_BY_CONTENT, name_of, role_of, states_of, value_of
from .nodes import TEXT, DomKey, PageNode
from .snapshot import Box, SnapshotDocument, SnapshotNode, snapshot_documents

LONGEST_CONTENT = 1_000
DEEPEST_FRAME = 20
MOST_OPTIONS = 40
"""Options of one list that are returned."""
_SKIPPED = frozenset({"script", "style", "noscript", "template", "head", "datalist"})


@dataclass(frozen=True)
class PageCapture:
    """The documents of one process, as the browser returned them."""

    session: str
    snapshot: Mapping[str, Any]
    loaders: Mapping[str, str]
    """Loader of the document of each frame."""
    size: tuple[float, float]
    """Visible part of the outermost document, in CSS pixels."""
    owner: tuple[str, int] | None = None
    """Session and number of the element that shows it; None for the page itself."""


def page_tree(captures: Sequence[PageCapture]) -> PageNode:
    """Return the tree of a page; the first capture is that of the page itself."""
    owned = {one.owner: one for one in captures[1:] if one.owner is not None}
    builder = _Builder(owned)
    width, height = captures[0].size
    children = builder.capture(captures[0], (0.0, 0.0, width, height), (0.0, 0.0), 0)
    return PageNode("page", children=children)


class _Builder:
    def __init__(self, owned: Mapping[tuple[str, int], PageCapture]) -> None:
        self._owned = dict(owned)

    def capture(
        self, capture: PageCapture, clip: Box, origin: tuple[float, float], depth: int
    ) -> tuple[PageNode, ...]:
        """Return the nodes of the outermost document of a process."""
        documents = snapshot_documents(capture.snapshot)
        if not documents:
            return ()
        return self.document(_Place(capture, documents, 0, clip, origin, depth))

    def document(self, place: "_Place") -> tuple[PageNode, ...]:
        """Return the nodes of a document."""
        nodes = place.document.nodes
        contents = _contents(nodes)
        names = _Names(nodes, contents)
        found = [list[PageNode]() for _ in nodes]
        top: list[PageNode] = []
        # Children come after their parents: from the end on, all below a node is known.
        for index in range(len(nodes) - 1, -1, -1):
            node = nodes[index]
            below = found[index][::-1]
            made = self._made(node, index, below, names, place)
            (found[node.parent] if 0 <= node.parent < index else top).extend(reversed(made))
        return tuple(reversed(top))

    def _made(
        self,
        node: SnapshotNode,
        index: int,
        below: list[PageNode],
        names: "_Names",
        place: "_Place",
    ) -> list[PageNode]:
        if node.tag in _SKIPPED:
            return []
        if node.tag == "#text":
            text = " ".join(node.text.split())
            shown = bool(text) and node.box is not None
            return [PageNode(TEXT, text, in_view=place.in_view(node.box))] if shown else []
        below += self._framed(node, place)
        if node.tag == "label":
            below = names.without_label(node, below)
        role = role_of(node)
        option = role == "option" and node.tag == "option"
        # Options of a closed list are not painted, and may be chosen.
        if not role or (node.box is None and not option):
            return below
        interactive = role in INTERACTIVE and "disabled" not in node.attributes
        name = names.of(index, role)
        made = PageNode(
            role,
            name,
            place.key(node),
            value_of(node, role, names.chosen(index)),
            node.attributes.get("aria-description", ""),
            node.attributes.get("href", "") if role == "link" else "",
            states_of(node, role),
            interactive,
            place.in_view(node.box) or option,
            tuple(_bounded(_without_repeated(below, name), node)),
        )
        return [made]

    def _framed(self, node: SnapshotNode, place: "_Place") -> list[PageNode]:
        """Return the nodes of the document that an element shows."""
        if node.box is None or place.depth >= DEEPEST_FRAME:
            return []
        clip, origin = place.part(node.box)
        if node.frame is not None and 0 < node.frame < len(place.documents):
            inner = _Place(
                place.capture, place.documents, node.frame, clip, origin, place.depth + 1
            )
            return [*self.document(inner)]
        owned = self._owned.pop((place.capture.session, node.number), None)
        return [] if owned is None else [*self.capture(owned, clip, origin, place.depth + 1)]


@dataclass(frozen=True)
class _Place:
    """One document, and where it is in the visible part of the page."""

    capture: PageCapture
    documents: Sequence[SnapshotDocument]
    index: int
    clip: Box
    origin: tuple[float, float]
    depth: int

    @property
    def document(self) -> SnapshotDocument:
        return self.documents[self.index]

    def key(self, node: SnapshotNode) -> DomKey:
        loader = self.capture.loaders.get(self.document.frame, "")
        return DomKey(self.capture.session, loader, node.number)

    def placed(self, box: Box) -> Box:
        x = self.origin[0] - self.document.scrolled[0]
        y = self.origin[1] - self.document.scrolled[1]
        return (box[0] + x, box[1] + y, box[2] + x, box[3] + y)

    def in_view(self, box: Box | None) -> bool:
        if box is None or box[2] <= box[0] or box[3] <= box[1]:
            return False
        return not _is_empty(_common(self.placed(box), self.clip))

    def part(self, box: Box) -> tuple[Box, tuple[float, float]]:
        placed = self.placed(box)
        return _common(placed, self.clip), (placed[0], placed[1])


class _Names:
    """Names of the elements of one document."""

    def __init__(self, nodes: Sequence[SnapshotNode], contents: Sequence[str]) -> None:
        self._nodes = nodes
        self._contents = contents
        self._ids: dict[str, int] = {}
        self._labels: dict[str, str] = {}
        self._chosen: dict[int, str] = {}
        for index, node in enumerate(nodes):
            if "id" in node.attributes:
                self._ids.setdefault(node.attributes["id"], index)
            if node.tag == "label" and "for" in node.attributes:
                self._labels.setdefault(node.attributes["for"], contents[index])
            if node.tag == "option" and node.selected:
                self._choose(index)

    def of(self, index: int, role: str) -> str:
        """Return the name of an element."""
        node = self._nodes[index]
        label = self._labels.get(node.attributes.get("id", ""), "") or self._label_around(index)
        content = self._contents[index] if role in NAMED_BY_CONTENT else ""
        return name_of(node, role, content, label, self._text_of)

    def without_label(self, label: SnapshotNode, below: list[PageNode]) -> list[PageNode]:
        """Return what is in a label, without the text that is the name of its element."""
        labels = label.attributes.get("for") in self._ids or any(one.interactive for one in below)
        return [one for one in below if one.role != TEXT] if labels else below

    def chosen(self, index: int) -> str:
        """Return the text of the chosen option of a list."""
        return self._chosen.get(index, "")

    def _choose(self, option: int) -> None:
        parent = self._nodes[option].parent
        while parent >= 0 and self._nodes[parent].tag == "optgroup":
            parent = self._nodes[parent].parent
        self._chosen.setdefault(parent, self._contents[option])

    def _text_of(self, name: str) -> str:
        index = self._ids.get(name)
        if index is None:
            return ""
        return self._nodes[index].attributes.get("aria-label") or self._contents[index]

    def _label_around(self, index: int) -> str:
        if self._nodes[index].tag not in ("input", "textarea", "select"):
            return ""
        for _ in range(5):
            index = self._nodes[index].parent
            if index < 0:
                return ""
            if self._nodes[index].tag == "label":
                return self._contents[index]
        return ""


def _contents(nodes: Sequence[SnapshotNode]) -> list[str]:
    """Return the text in each node, at most so many characters."""
    parts = [list[str]() for _ in nodes]
    texts = [""] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        if node.tag == "#text":
            # An option of a closed list has a text that is not painted.
            in_option = 0 <= node.parent < index and nodes[node.parent].tag == "option"
            own = node.text if node.box is not None or in_option else ""
        elif node.tag in _SKIPPED:
            own = ""
        elif node.tag == "img":
            own = node.attributes.get("alt", "")
        elif node.tag == "select":
            own = ""
        else:
            separator = "" if node.display.startswith("inline") else " "
            if node.tag in ("td", "th"):
                own = f" {_short(parts[index])} |"
            else:
                own = separator + _short(parts[index]) + separator
        texts[index] = " ".join(own.split()).removesuffix(" |")
        if own and 0 <= node.parent < index:
            parts[node.parent].append(own)
    return texts


def _short(parts: list[str]) -> str:
    return "".join(reversed(parts))[:LONGEST_CONTENT]


def _bounded(children: list[PageNode], node: SnapshotNode) -> list[PageNode]:
    more = len(children) - MOST_OPTIONS
    if node.tag != "select" or more <= 0:
        return children
    return [*children[:MOST_OPTIONS], PageNode(TEXT, f"… and {more} more options")]


def _without_repeated(children: list[PageNode], name: str) -> list[PageNode]:
    if not name:
        return children
    return [one for one in children if one.role != TEXT or one.name not in name]


def _common(one: Box, other: Box) -> Box:
    return (
        max(one[0], other[0]),
        max(one[1], other[1]),
        min(one[2], other[2]),
        min(one[3], other[3]),
    )


def _is_empty(box: Box) -> bool:
    return box[2] <= box[0] or box[3] <= box[1]
