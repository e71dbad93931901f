"""Role, name, value and states of an element, from its tag and attributes. Pure.

The roles are those of ARIA (https://www.w3.org/TR/html-aam-1.0/), as far as they tell a reader
something. The value of a password field is never read.
"""

from collections.abc import Callable, Mapping

from .snapshot import SnapshotNode

CLICKABLE = "clickable"
"""Role of an element without one that has a listener for clicks."""
HIDDEN_VALUE = "••••"
INTERACTIVE = frozenset(
    (
        *("button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox"),
        *("menuitemradio", "option", "radio", "searchbox", "slider", "spinbutton", "switch"),
        *("tab", "textbox", "treeitem", "file", "color", "date", CLICKABLE),
    )
)
NAMED_BY_CONTENT = frozenset(
    (
        *("button", "link", "heading", "option", "tab", "menuitem", "menuitemcheckbox", CLICKABLE),
        *("menuitemradio", "treeitem", "switch", "row", "checkbox", "radio", "columnheader"),
    )
)
_TAGS: Mapping[str, str] = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
    **{"button": "button", "summary": "button", "textarea": "textbox", "option": "option"},
    **{"img": "image", "video": "video", "audio": "audio", "canvas": "canvas", "table": "table"},
    **{"tr": "row", "th": "columnheader", "nav": "navigation", "main": "main", "form": "form"},
    **{"header": "banner", "footer": "contentinfo", "aside": "complementary", "dialog": "dialog"},
    **{"article": "article", "iframe": "iframe", "frame": "iframe", "progress": "progressbar"},
    **{"meter": "meter", "fieldset": "group", "embed": "embed", "object": "embed"},
}
_INPUTS: Mapping[str, str] = {
    **dict.fromkeys(("button", "submit", "reset", "image"), "button"),
    **dict.fromkeys(("date", "datetime-local", "month", "time", "week"), "date"),
    **{"checkbox": "checkbox", "radio": "radio", "range": "slider", "number": "spinbutton"},
    **{"search": "searchbox", "file": "file", "color": "color", "hidden": ""},
}
_SILENT_ROLES = ("none", "presentation", "generic")
_STATES = ("disabled", "required", "readonly")
_ARIA_STATES = ("checked", "pressed", "selected", "disabled", "required", "readonly", "current")


def role_of(node: SnapshotNode) -> str:
    """Return the role of an element; empty for one that only contains others."""
    given = node.attributes.get("role", "").split()
    if given and given[0] not in _SILENT_ROLES:
        return given[0].lower()
    attributes, role = node.attributes, _TAGS.get(node.tag, "")
    if node.tag == "input":
        role = _INPUTS.get(attributes.get("type", "text").lower(), "textbox")
    elif node.tag == "a":
        role = "link" if "href" in attributes else ""
    elif node.tag == "select":
        several = "multiple" in attributes or attributes.get("size", "1") not in ("", "0", "1")
        role = "listbox" if several else "combobox"
    elif node.tag == "svg":
        role = "image" if "aria-label" in attributes else ""
    if role:
        return role
    if attributes.get("contenteditable", "false").lower() in ("", "true", "plaintext-only"):
        return "textbox"
    takes_clicks = node.clickable and node.tag not in ("html", "body", "label")
    takes_keys = attributes.get("tabindex", "-").isdigit() and node.tag not in ("html", "body")
    return CLICKABLE if takes_clicks or takes_keys else ""


def name_of(
    node: SnapshotNode, role: str, content: str, label: str, by_id: Callable[[str], str]
) -> str:
    """Return the name of an element.

    ``content`` is the text in it, ``label`` that of its label, and ``by_id`` returns the text of
    another element of the document.
    """
    attributes = node.attributes
    named = " ".join(by_id(one) for one in attributes.get("aria-labelledby", "").split())
    candidates = [named, attributes.get("aria-label", "")]
    if node.tag == "input" and role == "button":
        usual = {"submit": "Submit", "reset": "Reset"}
        kind = attributes.get("type", "")
        candidates += [attributes.get("value", ""), attributes.get("alt", ""), usual.get(kind, "")]
    if node.tag in ("input", "textarea", "select"):
        candidates.append(label)
    elif role in NAMED_BY_CONTENT:
        candidates.append(content)
    candidates += [attributes.get(name, "") for name in ("alt", "title", "placeholder")]
    return next((found for one in candidates if (found := " ".join(one.split()))), "")


def value_of(node: SnapshotNode, role: str, chosen: str) -> str:
    """Return the value of a form element; ``chosen`` is the text of the chosen option."""
    if node.tag == "input" and node.attributes.get("type", "").lower() == "password":
        return HIDDEN_VALUE if node.value else ""
    if role in ("checkbox", "radio", "button"):
        return ""
    if node.tag == "select":
        return chosen
    return node.value or node.attributes.get("aria-valuetext", "")


def states_of(node: SnapshotNode, role: str) -> tuple[str, ...]:
    """Return the states of an element that differ from the usual ones."""
    attributes = node.attributes
    found = [name for name in _STATES if name in attributes]
    if node.checked:
        found.append("checked")
    if node.selected and role == "option":
        found.append("selected")
    for name in _ARIA_STATES:
        value = attributes.get(f"aria-{name}", "false").lower()
        if value == "mixed":
            found.append(f"{name}=mixed")
        elif value not in ("", "false"):
            found.append(name)
    expanded = attributes.get("aria-expanded", "").lower()
    if expanded in ("true", "false"):
        found.append("expanded" if expanded == "true" else "collapsed")
    if node.tag == "input" and attributes.get("type", "").lower() == "password":
        found.append("password")
    return tuple(dict.fromkeys(found))
