"""Texts of results: bounded in length, sufficient without the picture."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.desktop.errors import DesktopRefused

Json = dict[str, Any]

LONGEST = 20_000
"""Characters of the text of a result."""

_ROOM = 200
"""Characters for the sentence between head and tail."""

_LONGEST_FIELD = 8_000
"""Characters of one field of the structured content."""

_AGAIN = {
    "human_in_control": "Wait, then look at the screen before you go on.",
    "held_by_chat": "Wait for it, or use another desktop.",
}


def clipped(text: str, rest: str, longest: int = LONGEST) -> str:
    """Return head and tail of a text that is too long; ``rest`` says how to read the middle."""
    if len(text) <= longest:
        return text
    half = (longest - _ROOM) // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out} characters left out. {rest[:120]} …]\n{text[-half:]}"


def clipped_fields(value: Any, rest: str) -> Any:
    """Return a JSON value whose texts are clipped."""
    if isinstance(value, str):
        return clipped(value, rest, _LONGEST_FIELD)
    if isinstance(value, Mapping):
        return {name: clipped_fields(inner, rest) for name, inner in value.items()}
    if isinstance(value, list):
        return [clipped_fields(inner, rest) for inner in value]
    return value


def bounded(content: Json, rest: str) -> Json:
    """Return structured content of a bounded size; lists lose their last items."""
    found: Json = clipped_fields(content, rest)
    while len(json.dumps(found, ensure_ascii=False)) > LONGEST:
        longest = max(
            (name for name, value in found.items() if isinstance(value, list | str) and value),
            key=lambda name: len(json.dumps(found[name], ensure_ascii=False)),
            default=None,
        )
        if longest is None:
            return {"clipped": True}
        kept = found[longest]
        found = {**found, longest: kept[: len(kept) // 2], "clipped": True}
    return found


def refusal_text(error: DesktopRefused) -> str:
    """Return one sentence about a refused request, and what to do."""
    text = str(error)
    if error.code in _AGAIN:
        # The detail names the person or the chat; the message is the same for both.
        return f"{error.code}: {error.detail or error.message}. {_AGAIN[error.code]}"
    if error.status in (429, 503):
        return f"{text} Try again in a few seconds."
    return text


def action_sentences(reply: Json, count: int) -> list[str]:
    """Return what the actions of a call did, as far as the service reports it."""
    results: Sequence[Json] = reply.get("results") or []
    done = [one for one in results if "error" not in one and "skipped" not in one]
    sentences = [f"{len(done)} of {count} actions done: {_outputs(done)}."] if done else []
    if len(done) < len(results):
        failed = results[len(done)]
        error = failed.get("error") or {}
        why = f"{error.get('message', '')} {error.get('detail', '')}".strip()
        sentences.insert(0, f"Action {len(done) + 1} of {count} failed: {why or 'no reason given'}")
        if skipped := int(reply.get("skipped") or 0):
            sentences.append(f"{skipped} after it were not begun.")
    outside = [one["point"] for one in done if one.get("clamped")]
    sentences += [
        f"A point was off the screen; ({point[0]}, {point[1]}) was used." for point in outside
    ]
    return sentences


def screen_sentences(reply: Json) -> list[str]:
    """Return how the screen settled, what changed, and which window has the keyboard."""
    settled = {
        "quiet": "The screen rests.",
        "no_change": "The screen rests.",
        "ceiling": "The screen was still moving at the end of the wait.",
    }
    sentences = [settled[reply["settled"]]] if reply.get("settled") in settled else []
    fraction = reply.get("changed_fraction")
    if fraction is not None:
        sentences.append(_changed(fraction, reply.get("changed_regions") or []))
    if "focused_after" in reply:
        window = reply["focused_after"]
        title = "" if window is None else str(window.get("title") or "")[:200]
        sentences.append(
            "No window has the keyboard." if window is None else f'Focused window: "{title}".'
        )
        if window is not None and window.get("hint"):
            sentences.append(window["hint"])
    if reply.get("frame_id"):
        sentences.append(f"Frame {reply['frame_id']}.")
    return sentences


def _outputs(done: Sequence[Json]) -> str:
    names = [str(one.get("output", "")).removesuffix(" action performed") for one in done]
    return ", ".join(names)


def _changed(fraction: float, regions: Sequence[Sequence[int]]) -> str:
    if not fraction:
        return "Nothing on the screen changed."
    share = f"{fraction:.0%}".replace("%", " %") if fraction >= 0.01 else "less than 1 %"
    where = ", ".join(str(list(region)) for region in regions[:4])
    return f"{share} of the screen changed{f', in {where}' if where else ''}.".capitalize()
