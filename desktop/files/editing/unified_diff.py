"""Unified diff of an edit."""

from collections.abc import Iterator
from difflib import SequenceMatcher

CONTEXT = 3


def unified(path: str, before: str, after: str) -> str:
    """Return the diff with ``path`` as both labels; empty if nothing changed."""
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    # `autojunk` would ignore lines that are frequent in a file of 200 lines or more, such as blank
    # ones, and report much larger changes.
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    parts = [f"--- {path}\n+++ {path}\n"]
    for group in matcher.get_grouped_opcodes(CONTEXT):
        first, last = group[0], group[-1]
        parts.append(f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@\n")
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                parts.extend(_marked(" ", old[old_from:old_to]))
                continue
            parts.extend(_marked("-", old[old_from:old_to]))
            parts.extend(_marked("+", new[new_from:new_to]))
    return "".join(parts)


def _lines(text: str) -> list[str]:
    # splitlines() would also split at form feeds and Unicode separators.
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _marked(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line
        if not line.endswith("\n"):
            yield "\n\\ No newline at end of file\n"


def _span(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    # An empty range names the line before it, and a length of 1 is left out, as in diff(1).
    return f"{start + 1 if length else start},{length}"
