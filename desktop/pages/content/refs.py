"""Refs: the short names of elements that a model has read, as ``ref_7``. Pure.

A ref belongs to one tab and to one document. It stays the same while the element is read again,
and is never given to another element.
"""

from dataclasses import dataclass

from deskhand.desktop.pages.errors import BrowserCallFailed

from .nodes import DomKey

MOST_REFS = 20_000
"""Refs that are known; the oldest are forgotten, and are stale then."""
STALE = "stale_ref"


@dataclass(frozen=True)
class ElementRef:
    """What a ref names."""

    tab: str
    key: DomKey


class RefTable:
    """All refs of one browser."""

    def __init__(self, most: int = MOST_REFS) -> None:
        self._most = most
        self._elements: dict[str, ElementRef] = {}
        self._names: dict[ElementRef, str] = {}
        self._last = 0

    def ref(self, tab: str, key: DomKey) -> str:
        """Return the ref of an element, a new one if it has none."""
        element = ElementRef(tab, key)
        known = self._names.get(element)
        if known is not None:
            return known
        self._last += 1
        name = f"ref_{self._last}"
        self._elements[name], self._names[element] = element, name
        if len(self._elements) > self._most:
            oldest = next(iter(self._elements))
            del self._names[self._elements.pop(oldest)]
        return name

    def find(self, ref: str, tab: str) -> DomKey:
        """Return the element of a ref in a tab.

        Raises:
            BrowserCallFailed: If the ref is not known any more, or belongs to another tab.
        """
        element = self._elements.get(ref.strip("[] "))
        if element is None:
            raise stale(ref, tab, "it was never given, or is too old")
        if element.tab != tab:
            text = f"{ref} is an element of tab {element.tab}, and this call acts in tab {tab}."
            raise BrowserCallFailed(409, f'{text} Give tab_id "{element.tab}".', STALE)
        return element.key

    def forget(self, tab: str) -> None:
        """Forget all refs of a tab that was closed."""
        for name, element in [*self._elements.items()]:
            if element.tab == tab:
                del self._elements[name], self._names[element]


def stale(ref: str, tab: str, reason: str) -> BrowserCallFailed:
    """Return the error for a ref that names nothing any more."""
    return BrowserCallFailed(
        409,
        f"{ref} is stale: {reason}. Read tab {tab} again with read_page or find, and use the ref "
        "that it gives now.",
        STALE,
    )
