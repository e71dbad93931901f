"""Search for elements of a page by a description, without a model. Pure.

The words of the description are compared with the role of an element, its name, and the text near
it, in this order of weight. A word that is misspelt or inflected still matches. A word for a role,
as *button* or *field*, is no part of a name, unless the name has it too.
"""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .formatting import described, shortened
from .nodes import TEXT, DomKey, PageNode

MOST_MATCHES = 20
LONGEST_NEAR = 120
_LEAST = 0.5
"""Least share of a description that an element must match."""
_SIMILAR = 0.75
_OWN, _NEAR = 1.0, 0.45
_ROLE_BONUS = 0.5
_MOST_NEAR_WORDS = 40
_BEFORE, _AFTER = 2, 1
"""Neighbours of an element whose text counts as near it."""

_FIELDS = frozenset({"textbox", "searchbox", "combobox", "spinbutton", "date", "file", "color"})
_ROLES: Mapping[str, frozenset[str]] = {
    "button": frozenset({"button", "clickable"}),
    "link": frozenset({"link"}),
    "field": _FIELDS,
    "input": _FIELDS,
    "textbox": _FIELDS,
    "textfield": _FIELDS,
    "box": _FIELDS | {"checkbox", "listbox"},
    "bar": _FIELDS | {"toolbar", "menubar", "progressbar"},
    "checkbox": frozenset({"checkbox", "switch"}),
    "switch": frozenset({"checkbox", "switch"}),
    "toggle": frozenset({"checkbox", "switch"}),
    "radio": frozenset({"radio"}),
    "dropdown": frozenset({"combobox", "listbox"}),
    "select": frozenset({"combobox", "listbox"}),
    "option": frozenset({"option"}),
    "menu": frozenset({"menu", "menubar", "menuitem"}),
    "item": frozenset({"menuitem", "listitem", "treeitem", "option"}),
    "tab": frozenset({"tab"}),
    "slider": frozenset({"slider"}),
    "heading": frozenset({"heading"}),
    "title": frozenset({"heading"}),
    "image": frozenset({"image", "img"}),
    "picture": frozenset({"image", "img"}),
    "icon": frozenset({"image", "img", "button", "link"}),
    "table": frozenset({"table", "grid"}),
    "row": frozenset({"row"}),
    "cell": frozenset({"cell", "gridcell"}),
    "list": frozenset({"list", "listbox"}),
    "dialog": frozenset({"dialog", "alertdialog"}),
    "form": frozenset({"form"}),
}
_EMPTY = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "to",
        "for",
        "in",
        "on",
        "at",
        "with",
        "and",
        "or",
        "that",
        "which",
        "is",
        "my",
        "this",
        "all",
        "any",
        "element",
    ]
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class PageMatch:
    """An element that fits a description."""

    node: PageNode
    score: float
    near: str


def found(root: PageNode, query: str, most: int = MOST_MATCHES) -> tuple[PageMatch, ...]:
    """Return the elements that fit a description, the best first."""
    words = tuple(word for word in _words(query) if word not in _EMPTY) or _words(query)
    if not words:
        return ()
    matches = []
    for node, near in _elements(root):
        score = _score(words, node, near)
        if score >= _LEAST:
            matches.append(PageMatch(node, score, near))
    # Sorting is stable: equal elements stay in the order of the page.
    return tuple(sorted(matches, key=lambda one: -one.score)[:most])


def match_lines(matches: Iterable[PageMatch], ref: Callable[[DomKey], str]) -> str:
    """Return one line for each match, with its ref and the text near it."""
    lines = []
    for one in matches:
        name = "" if one.node.key is None else f" [{ref(one.node.key)}]"
        near = shortened(one.near, LONGEST_NEAR)
        lines.append(described(one.node) + name + (f' near "{near}"' if near else ""))
    return "\n".join(lines)


def _elements(root: PageNode) -> Iterable[tuple[PageNode, str]]:
    """Yield the elements of a page, each with the text near it."""
    waiting = [(root, "")]
    while waiting:
        node, near = waiting.pop()
        if node.role != TEXT and node.key is not None:
            yield node, near
        # The nearest text counts: that further out only where there is none.
        around = [(one, _around(node, place) or near) for place, one in enumerate(node.children)]
        waiting += reversed(around)


def _around(node: PageNode, place: int) -> str:
    """Return the text around a child: the name of its parent, and what stands before and after."""
    before = [_text(one) for one in node.children[max(0, place - _BEFORE) : place]]
    after = [_text(one) for one in node.children[place + 1 : place + 1 + _AFTER]]
    return " ".join(text for text in (node.name, *before, *after) if text)


def _text(node: PageNode) -> str:
    """Return the name of an element that is no control."""
    return "" if node.interactive else node.name


def _score(words: tuple[str, ...], node: PageNode, near: str) -> float:
    own = _words(f"{node.name} {node.description} {node.value}")
    around = _words(near)[:_MOST_NEAR_WORDS]
    total, counted, fits = 0.0, 0, False
    for word in words:
        in_name = _best(word, own)
        roles = _ROLES.get(word)
        if roles is not None and in_name < 1:
            if node.role in roles:
                fits = True
            else:
                # Another kind of element than the one that is meant.
                total, counted = total - 0.25, counted + 1
            continue
        counted += 1
        total += max(_OWN * in_name, _NEAR * _best(word, around))
    if not counted:
        return 1.0 if fits else 0.0
    share = total / counted
    return share + _ROLE_BONUS * fits + 0.3 * node.interactive if share >= _NEAR - 0.01 else 0.0


def _best(word: str, words: Iterable[str]) -> float:
    return max((_likeness(word, other) for other in words), default=0.0)


@lru_cache(maxsize=50_000)
def _likeness(word: str, other: str) -> float:
    if word == other:
        return 1.0
    if len(word) >= 3 and (other.startswith(word) or (len(other) >= 4 and word.startswith(other))):
        return 0.9
    if min(len(word), len(other)) < 4:
        return 0.0
    ratio = difflib.SequenceMatcher(None, word, other, autojunk=False).ratio()
    return 0.8 * ratio if ratio >= _SIMILAR else 0.0


def _words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(one for one in plain if not unicodedata.combining(one))
    return tuple(_WORD.findall(kept))
