"""Columns of a snapshot of the browser, as elements. Pure.

``DOMSnapshot.captureSnapshot`` returns all documents of a process: their nodes in the order of the
page, of shadow trees too, and the layout of those that are painted. Texts are numbers of strings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in CSS pixels."""

STYLES = ("display", "visibility")
"""The computed styles that a snapshot has, in this order."""
_MOST_NODES = 200_000
_ELEMENT, _TEXT = 1, 3


@dataclass
class SnapshotNode:
    """One element or text of a document."""

    parent: int
    tag: str
    """Name in lower case; ``#text`` for a text."""
    number: int
    """The number of the node in the browser."""
    text: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    box: Box | None = None
    """Where it is in its document; None for what is not painted."""
    display: str = ""
    value: str = ""
    checked: bool = False
    selected: bool = False
    clickable: bool = False
    frame: int | None = None
    """The document that it shows."""


@dataclass(frozen=True)
class SnapshotDocument:
    """One document, with its nodes in the order of the page."""

    frame: str
    nodes: Sequence[SnapshotNode]
    scrolled: tuple[float, float] = (0.0, 0.0)


def snapshot_documents(snapshot: Mapping[str, Any]) -> tuple[SnapshotDocument, ...]:
    """Return the documents of a snapshot, the outermost first."""
    strings = snapshot.get("strings") or []
    return tuple(_Reader(strings, one).document() for one in snapshot.get("documents") or [])


class _Reader:
    def __init__(self, strings: Sequence[str], document: Json) -> None:
        self._strings = strings
        self._document = document
        self._nodes: Json = document.get("nodes") or {}

    def document(self) -> SnapshotDocument:
        kinds = self._column("nodeType")[:_MOST_NODES]
        values, inputs = self._rare("textValue"), self._rare("inputValue")
        frames = self._rare("contentDocumentIndex")
        checked, selected = self._flags("inputChecked"), self._flags("optionSelected")
        clickable = self._flags("isClickable")
        names, texts = self._column("nodeName"), self._column("nodeValue")
        parents, numbers = self._column("parentIndex"), self._column("backendNodeId")
        attributes = self._column("attributes")
        nodes = []
        for index, kind in enumerate(kinds):
            node = SnapshotNode(parents[index], self._text(names[index]).lower(), numbers[index])
            if kind == _TEXT:
                node.text = self._text(texts[index])
            elif kind == _ELEMENT:
                pairs = [self._text(one) for one in attributes[index]]
                node.attributes = dict(zip(pairs[0::2], pairs[1::2], strict=False))
                node.value = self._text(values.get(index, inputs.get(index, -1)))
                node.checked, node.selected = index in checked, index in selected
                node.clickable, node.frame = index in clickable, frames.get(index)
            nodes.append(node)
        self._add_layout(nodes)
        scrolled = (self._number("scrollOffsetX"), self._number("scrollOffsetY"))
        return SnapshotDocument(self._text(self._document.get("frameId", -1)), nodes, scrolled)

    def _add_layout(self, nodes: Sequence[SnapshotNode]) -> None:
        layout: Json = self._document.get("layout") or {}
        bounds, styles = layout.get("bounds") or [], layout.get("styles") or []
        for place, index in enumerate(layout.get("nodeIndex") or []):
            if not 0 <= index < len(nodes):
                continue
            style = [self._text(one) for one in styles[place]] if place < len(styles) else []
            display, visibility = (*style, "", "")[:2]
            if visibility in ("hidden", "collapse"):
                continue
            node = nodes[index]
            left, top, width, height = bounds[place]
            box = (left, top, left + width, top + height)
            # A text may be painted in several parts.
            known = node.box
            node.box = box if known is None else _joined(known, box)
            node.display = display

    def _column(self, name: str) -> list[Any]:
        return self._nodes.get(name) or []

    def _rare(self, name: str) -> dict[int, int]:
        column = self._nodes.get(name) or {}
        return dict(zip(column.get("index") or [], column.get("value") or [], strict=False))

    def _flags(self, name: str) -> set[int]:
        return set((self._nodes.get(name) or {}).get("index") or [])

    def _text(self, number: int) -> str:
        return self._strings[number] if 0 <= number < len(self._strings) else ""

    def _number(self, name: str) -> float:
        return float(self._document.get(name) or 0)


def _joined(one: Box, other: Box) -> Box:
    return (
        min(one[0], other[0]),
        min(one[1], other[1]),
        max(one[2], other[2]),
        max(one[3], other[3]),
    )
