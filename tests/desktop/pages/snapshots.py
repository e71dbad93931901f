"""Snapshots of pages as the browser returns them, built from nested elements."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
BOX = (0.0, 0.0, 100.0, 20.0)


@dataclass
class El:
    """An element; a text is a plain string. ``box`` is left, top, width and height."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    inner: Sequence["El | str"] = ()
    box: tuple[float, float, float, float] | None = BOX
    display: str = "block"
    visibility: str = "visible"
    value: str | None = None
    checked: bool = False
    selected: bool = False
    clickable: bool = False
    frame: int | None = None


class _Columns:
    def __init__(self, strings: list[str]) -> None:
        self.strings = strings
        self.nodes: Json = {
            name: []
            for name in (
                *("parentIndex", "nodeType", "nodeName", "nodeValue", "backendNodeId"),
                "attributes",
            )
        }
        for name in ("inputValue", "contentDocumentIndex"):
            self.nodes[name] = {"index": [], "value": []}
        for name in ("inputChecked", "optionSelected", "isClickable"):
            self.nodes[name] = {"index": []}
        self.layout: Json = {name: [] for name in ("nodeIndex", "styles", "bounds", "text")}

    def text(self, text: str) -> int:
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def add(self, element: El | str, parent: int, shown: bool = True) -> None:
        index = len(self.nodes["nodeType"])
        is_text = isinstance(element, str)
        name = "#text" if isinstance(element, str) else element.tag.upper()
        self.nodes["parentIndex"].append(parent)
        self.nodes["nodeType"].append(3 if is_text else 1)
        self.nodes["nodeName"].append(self.text(name))
        self.nodes["nodeValue"].append(self.text(element) if isinstance(element, str) else -1)
        self.nodes["backendNodeId"].append(100 + index)
        if isinstance(element, str):
            self.nodes["attributes"].append([])
            if shown:
                self._lay_out(index, BOX, ("inline", "visible"), element)
            return
        pairs = [self.text(one) for pair in element.attributes.items() for one in pair]
        self.nodes["attributes"].append(pairs)
        for name, flag in (
            ("inputChecked", element.checked),
            ("optionSelected", element.selected),
            ("isClickable", element.clickable),
        ):
            if flag:
                self.nodes[name]["index"].append(index)
        value = None if element.value is None else self.text(element.value)
        for name, number in (("inputValue", value), ("contentDocumentIndex", element.frame)):
            if number is not None:
                self.nodes[name]["index"].append(index)
                self.nodes[name]["value"].append(number)
        painted = shown and element.box is not None
        if painted and element.box is not None:
            self._lay_out(index, element.box, (element.display, element.visibility))
        visible = element.visibility == "visible"
        for one in element.inner:
            self.add(one, index, painted and visible)

    def _lay_out(
        self,
        index: int,
        box: tuple[float, float, float, float],
        styles: tuple[str, str],
        text: str = "",
    ) -> None:
        self.layout["nodeIndex"].append(index)
        self.layout["bounds"].append(list(box))
        self.layout["styles"].append([self.text(one) for one in styles])
        self.layout["text"].append(self.text(text) if text else -1)


def snapshot(*documents: El, scrolled: float = 0) -> Json:
    """Return a snapshot; the frame of each document is ``F0``, ``F1`` and so on."""
    strings: list[str] = []
    found = []
    for number, root in enumerate(documents):
        columns = _Columns(strings)
        columns.add(root, -1)
        frame = columns.text(f"F{number}")
        found.append(
            {
                "frameId": frame,
                "nodes": columns.nodes,
                "layout": columns.layout,
                "scrollOffsetY": 0 if number else scrolled,
            }
        )
    return {"documents": found, "strings": strings}


def page(*inner: El | str) -> El:
    """Return a document with these elements."""
    return El("html", {}, [El("body", {}, inner)])
