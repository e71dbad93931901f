"""The tree of widgets in the XML that OSWorld's evaluators read. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Widget = Mapping[str, Any]
"""JSON of a widget, as the route of the accessibility tree has it."""

DEEPEST = 50
WIDEST = 1024
"""Limits of the original server: levels below the root, and children of an element."""

_NAMES = "https://accessibility.ubuntu.example.org/ns/"
_SPACES = {
    **{"st": "state", "attr": "attributes", "cp": "component", "doc": "document"},
    **{"docattr": "document/attributes", "txt": "text", "val": "value", "act": "action"},
}
_SHOWN = ("enabled", "sensitive", "showing", "visible")
"""States of each widget in our tree that is not disabled."""
_NO_NAME = re.compile(r"[^a-z0-9_.-]+")
# XML 1.0, section 2.2: these cannot be written, not even as references.
_NO_CHARACTER = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXTS = frozenset({"entry", "heading", "label", "link", "paragraph", "static", "terminal", "text"})
"""Roles whose name is their text."""


def xml_of(applications: Sequence[Widget]) -> str:
    """Return the document with one child of the root for each application."""
    spaces = "".join(f' xmlns:{short}="{_NAMES}{name}"' for short, name in _SPACES.items())
    parts = [f"<desktop-frame{spaces}>"]
    for one in applications[:WIDEST]:
        _write(parts, one, 1)
    parts.append("</desktop-frame>")
    return "".join(parts)


def _write(parts: list[str], widget: Widget, level: int) -> None:
    name, role = str(widget.get("name", "")), str(widget.get("role", ""))
    element = _NO_NAME.sub("-", role.lower().replace(" ", "-")).strip("-.") or "unknown"
    if not element[0].isalpha():
        element = f"role-{element}"
    attributes = "".join(_attributes(widget, name))
    children: Sequence[Widget] = widget.get("children", ())[:WIDEST] if level < DEEPEST else ()
    text = escape(_written(name)) if role in _TEXTS else ""
    if not children and not text:
        parts.append(f"<{element}{attributes}/>")
        return
    parts.append(f"<{element}{attributes}>{text}")
    for child in children:
        _write(parts, child, level + 1)
    parts.append(f"</{element}>")


def _attributes(widget: Widget, name: str) -> Iterable[str]:
    yield f" name={quoteattr(_written(name))}"
    states = [str(one) for one in widget.get("states", ())]
    shown = () if "disabled" in states else _SHOWN
    for state in (*shown, *(one for one in states if one != "disabled")):
        yield f' st:{state}="true"'
    if "rectangle" in widget:
        left, top, right, bottom = widget["rectangle"]
        yield f' cp:screencoord="({left}, {top})" cp:size="({right - left}, {bottom - top})"'


def _written(text: str) -> str:
    return _NO_CHARACTER.sub("", text)
