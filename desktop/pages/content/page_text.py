"""The visible text of a page from a snapshot of its layout. Pure.

The snapshot has the text that is painted, of shadow trees and frames too. Elements that are no
part of a line end it. If the page has an article or a main part with enough text, only that is
returned.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]

LONGEST = 50_000
_INLINE = ("inline", "contents", "inline-block", "inline-flex", "ruby", "inline-grid")
_CELLS = ("table-cell",)
_SKIPPED = ("SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE")
_ARTICLES = ("ARTICLE", "MAIN")
_ENOUGH = 400
"""Characters of an article that count as the content of its page."""
_CUT = "[cut at {most:,} characters: read the rest with read_page]"


def page_text(snapshots: Sequence[Mapping[str, Any]]) -> str:
    """Return the text; each snapshot is one answer of ``DOMSnapshot.captureSnapshot``.

    The first is that of the page; the others are those of frames in other processes. The first
    computed style is ``display``.
    """
    documents = [
        _Document(one, snapshot.get("strings") or [])
        for snapshot in snapshots
        for one in snapshot.get("documents") or []
    ]
    article = documents[0].article() if documents else ""
    texts = [article] if article else [document.text() for document in documents]
    text = "\n\n".join(text for text in texts if text)
    if len(text) <= LONGEST:
        return text
    end = _CUT.format(most=LONGEST)
    return f"{text[: LONGEST - len(end) - 1]}\n{end}"


class _Document:
    def __init__(self, document: Json, strings: Sequence[str]) -> None:
        nodes, layout = document.get("nodes") or {}, document.get("layout") or {}
        self._strings = strings
        self._parents: Sequence[int] = nodes.get("parentIndex") or []
        self._names = [self._string(one) for one in nodes.get("nodeName") or []]
        self._boxes: dict[int, tuple[str, str]] = {}
        texts, styles = layout.get("text") or [], layout.get("styles") or []
        for index, node in enumerate(layout.get("nodeIndex") or []):
            style = styles[index] if index < len(styles) and styles[index] else [-1]
            text = self._string(texts[index]) if index < len(texts) else ""
            display = self._string(style[0])
            known = self._boxes.get(node)
            # A text with several boxes, as one with a first letter, is in several parts.
            self._boxes[node] = (text if known is None else known[0] + text, display)

    def text(self) -> str:
        """Return the text of the whole document."""
        return self._of(0)

    def article(self) -> str:
        """Return the longest article or main part; empty if it has little text."""
        roots = [index for index, name in enumerate(self._names) if name in _ARTICLES]
        longest = max((self._of(root) for root in roots), key=len, default="")
        return longest if len(longest) >= _ENOUGH else ""

    def _of(self, root: int) -> str:
        inside: set[int] = set()
        skipped: set[int] = set()
        pieces: list[str] = []
        last = -1
        for index, name in enumerate(self._names):
            parent = self._parents[index] if index < len(self._parents) else -1
            if index != root and parent not in inside:
                continue
            if name in _SKIPPED or parent in skipped:
                skipped.add(index)
            inside.add(index)
            if index in skipped or index not in self._boxes:
                continue
            text, display = self._boxes[index]
            if name == "#text":
                pieces += [self._separator(last, index), text]
                last = index
            elif name == "BR":
                pieces.append("\n")
            elif display not in _INLINE:
                pieces.append("\t" if display in _CELLS else "\n")
        return _tidied("".join(pieces))

    def _separator(self, before: int, after: int) -> str:
        """Return what stands between two texts: a line ends where a block does."""
        ended = self._blocks(before) - self._blocks(after) if before >= 0 else set()
        if not ended:
            return ""
        cells = all(self._boxes[one][1] in _CELLS for one in ended)
        return "" if cells else "\n"

    def _blocks(self, node: int) -> set[int]:
        found = set()
        while 0 <= node < len(self._parents):
            if node in self._boxes and self._names[node] != "#text":
                found |= {node} - ({node} if self._boxes[node][1] in _INLINE else set())
            node = self._parents[node]
        return found

    def _string(self, index: object) -> str:
        if isinstance(index, int) and 0 <= index < len(self._strings):
            return self._strings[index]
        return ""


def _tidied(text: str) -> str:
    lines = []
    for line in text.split("\n"):
        cells = [" ".join(cell.split()) for cell in line.strip("\t ").split("\t")]
        joined = "\t".join(cells).strip()
        if joined:
            lines.append(joined)
    return "\n".join(lines)
