"""The waterfall of a run as a drawing, and the totals of its kinds of time. Pure."""

from html import escape

from .advice import Advice
from .waterfall import Kind, Waterfall

COLOURS: dict[Kind, tuple[str, str]] = {
    "queue": ("queue", "#c05b4d"),
    "model": ("model", "#5b6ee1"),
    "person": ("waiting for a person", "#b8569b"),
    "action": ("action", "#2f9e6e"),
    "commands": ("commands", "#2b8fb3"),
    "waiting": ("waiting", "#8f8158"),
    "settle": ("settle", "#c99a2e"),
    "own": ("own code", "#7a8794"),
}
"""Names and colours of the kinds of time."""
WIDTH, ROW = 1000, 6
"""Units of the drawing: its width, and the height of a row."""
LEAST_HEIGHT, MOST_HEIGHT = 60, 640
"""Pixels of the page; the drawing is stretched to them."""
MOST_ROWS = 300


def totals_html(found: Waterfall) -> str:
    """Return a bar of the kinds of time, and below it their seconds."""
    totals = {kind: seconds for kind, seconds in found.totals().items() if seconds}
    whole = sum(totals.values())
    if not whole:
        return ""
    bar = "".join(
        f'<i style="width:{100 * seconds / whole:.2f}%;background:{COLOURS[kind][1]}"></i>'
        for kind, seconds in totals.items()
    )
    key = "".join(
        f'<span><i style="background:{COLOURS[kind][1]}"></i>'
        f"{COLOURS[kind][0]} {seconds:.1f} s</span>"
        for kind, seconds in totals.items()
    )
    return f'<div class="bar">{bar}</div><div class="key"><small>{key}</small></div>'


def waterfall_svg(found: Waterfall) -> str:
    """Return the rows of a run, the first ones of a longer one; empty without any time."""
    if not found.seconds:
        return ""
    rows = found.rows[:MOST_ROWS]
    whole = max((span.end for row in rows for span in row.spans), default=0.0) or 1.0
    drawn = []
    for number, row in enumerate(rows):
        bars = "".join(
            f'<rect x="{WIDTH * span.begin / whole:.1f}" y="{number * ROW}" '
            f'width="{max(1.0, WIDTH * span.seconds / whole):.1f}" height="{ROW - 1}" '
            f'fill="{COLOURS[span.kind][1]}"/>'
            for span in row.spans
        )
        name = f"{row.index + 1} {row.title}" if row.index is not None else row.title
        drawn.append(f"<g><title>{escape(name)} ({row.spent():.1f} s)</title>{bars}</g>")
    shown = min(max(len(rows) * 10, LEAST_HEIGHT), MOST_HEIGHT)
    return (
        f'<svg class="waterfall" role="img" aria-label="Waterfall of the steps" '
        f'style="height:{shown}px" preserveAspectRatio="none" '
        f'viewBox="0 0 {WIDTH} {len(rows) * ROW}">{"".join(drawn)}</svg>'
    )


def advice_html(given: list[Advice]) -> str:
    """Return what would make the run faster, as a list."""
    rows = "".join(f"<li>{escape(one.text)}</li>" for one in given)
    return f'<h3>What would make it faster</h3><ul class="advice">{rows}</ul>' if rows else ""
