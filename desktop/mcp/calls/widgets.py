"""Search of the tree of widgets."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .screen_view import middle

Json = dict[str, Any]


def found_widgets(
    tree: Json, text: str, role: str, to_point: Callable[[Sequence[int]], list[int]]
) -> list[Json]:
    """Return the widgets with a ref whose name holds ``text`` and whose role holds ``role``.

    Case does not matter; ``to_point`` converts native pixels into those of the caller's picture.
    """
    wanted, kind = text.casefold().strip(), role.casefold().strip()
    found = []
    for widget in _all(tree.get("applications") or []):
        name, own_role = str(widget.get("name", "")), str(widget.get("role", ""))
        fits = wanted in name.casefold() and kind in own_role.casefold()
        # Without a text a nameless container would fit every search.
        if not fits or "ref" not in widget or not (name or kind):
            continue
        entry: Json = {"ref": widget["ref"], "role": own_role, "text": name}
        entry["point"] = to_point(middle(widget["rectangle"]))
        found.append(entry | ({"states": widget["states"]} if widget.get("states") else {}))
    return found


def widget_line(widget: Json) -> str:
    """Return one line about a widget."""
    x, y = widget["point"]
    states = f" ({', '.join(widget['states'])})" if widget.get("states") else ""
    return f'{widget["ref"]} {widget["role"]} "{widget["text"]}" at [{x},{y}]{states}'


def _all(entries: Sequence[Json]) -> Iterator[Json]:
    # The tree of a page may be deeper than the interpreter's stack.
    waiting = list(reversed(entries))
    while waiting:
        entry = waiting.pop()
        yield entry
        waiting.extend(reversed(entry.get("children") or []))
