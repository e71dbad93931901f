"""Hints on the likely mistake when a text to replace is not in the file."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import islice

from .line_endings import TextLine
from .matching import Key, trimmed, without_trail

MOST_LINES = 5
MOST_HINTS = 3
MOST_COMPARED = 5_000
"""Lines of a file that are compared, as difflib is slow."""
MOST_SEARCHED = 100
"""Lines of the old text that are compared."""
LONGEST = 200
"""Characters of a line that a hint quotes."""


def hints(text: str, lines: Sequence[TextLine], search: Sequence[TextLine], new: str) -> str:
    """Return sentences for the caller; empty if no mistake is recognized."""
    # A miscount suppresses the hint about swapped texts, which would then edit the wrong place.
    return _miscounts(lines, search) or _swap(text, lines, new) or _closest(lines, search)


def _miscounts(lines: Sequence[TextLine], search: Sequence[TextLine]) -> str:
    found = []
    for wanted in search:
        counts: dict[tuple[str, int], list[str]] = {}
        for number, line in enumerate(lines, 1):
            if difference := miscount(wanted.text, line.text):
                char, expected, actual = difference
                counts.setdefault((char, expected), []).append(f"{actual} at line {number}")
        for (char, expected), places in counts.items():
            found.append(
                f'A line of the old text has {expected} "{char}" (U+{ord(char):04X}) where '
                f"the file has {_listed(places)}."
            )
    rest = [f"So it is with these and {len(found) - MOST_HINTS} more."]
    return " ".join(found[:MOST_HINTS] + (rest if len(found) > MOST_HINTS else []))


def _listed(places: Sequence[object]) -> str:
    rest = f" and {len(places) - MOST_LINES} more" if len(places) > MOST_LINES else ""
    return ", ".join(map(str, places[:MOST_LINES])) + rest


def miscount(wanted: str, actual: str) -> tuple[str, int, int] | None:
    """Return the character whose runs differ in length, and both lengths.

    None if the lines differ in anything else, or by a single character.
    """
    start = 0
    shorter = min(len(wanted), len(actual))
    while start < shorter and wanted[start] == actual[start]:
        start += 1
    end = 0
    while end < shorter - start and wanted[-1 - end] == actual[-1 - end]:
        end += 1
    extra = max(wanted, actual, key=len)[start : max(len(wanted), len(actual)) - end]
    if start + end != shorter or len(set(extra)) != 1:
        return None
    char = extra[0]
    runs = _run(wanted, start, char), _run(actual, start, char)
    return (char, *runs) if max(runs) >= 2 else None


def _run(text: str, at: int, char: str) -> int:
    before = text[:at]
    after = text[at:]
    return len(before) - len(before.rstrip(char)) + len(after) - len(after.lstrip(char))


def _swap(text: str, lines: Sequence[TextLine], new: str) -> str:
    numbers = list(dict.fromkeys(_standing(text, lines, new))) if new.strip() else []
    if not numbers:
        return ""
    return f"The new text appears at line {_listed(numbers)}: old and new may be swapped."


def _standing(text: str, lines: Sequence[TextLine], new: str) -> Iterator[int]:
    at, number, counted = text.find(new), 1, 0
    if at >= 0:
        while at >= 0:
            # Counted from the previous place on, so that many places do not take quadratic time.
            number += text.count("\n", counted, at)
            counted = at
            yield number
            at = text.find(new, at + 1)
        return
    body = new.removesuffix("\n").split("\n")
    for key in (without_trail, trimmed):
        places = _overlapping(lines, body, key)
        if places:
            yield from places
            return


def _overlapping(lines: Sequence[TextLine], body: Sequence[str], key: Key) -> list[int]:
    wanted = [text.rstrip() if key is without_trail else text.strip() for text in body]
    given = [key(line) for line in lines]
    span = len(wanted)
    return [at + 1 for at in range(len(given) - span + 1) if given[at : at + span] == wanted]


def _closest(lines: Sequence[TextLine], search: Sequence[TextLine]) -> str:
    texts = [line.text for line in islice(lines, MOST_COMPARED)]
    wanted = [line.text for line in islice(search, MOST_SEARCHED)]
    same, start = max(
        (_alike(texts[at : at + len(wanted)], wanted), -at) for at in range(len(texts) or 1)
    )
    if same:
        return _partly(texts, wanted, same, -start)
    first = next(filter(None, wanted), "")
    similar = get_close_matches(first, list(filter(None, texts)), n=1, cutoff=0.6)
    if similar:
        return f"Closest match: line {texts.index(similar[0]) + 1}, {similar[0][:LONGEST]!r}."
    return "None of its lines was found in the file."


def _alike(texts: Sequence[str], wanted: Sequence[str]) -> int:
    return sum(bool(text) and text == line for text, line in zip(texts, wanted, strict=False))


def _partly(texts: Sequence[str], wanted: Sequence[str], same: int, start: int) -> str:
    said = f"Closest match: from line {start + 1} on, {same} of {len(wanted)} lines are the same"
    there = texts[start : start + len(wanted)]
    odd = next(
        (at for at, pair in enumerate(zip(there, wanted, strict=False)) if pair[0] != pair[1]), None
    )
    if odd is None:
        short = len(there) < len(wanted)
        return f"{said}; {'the file ends there' if short else 'look at the line endings'}."
    shown, missed = there[odd][:LONGEST], wanted[odd][:LONGEST]
    return f"{said}; line {start + odd + 1} is {shown!r}, not {missed!r}."
