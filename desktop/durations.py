"""Durations as people and models write them: ``30s``, ``5m``, ``1h30m``."""

import math
import re

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = r"(\d+(?:\.\d+)?|\.\d+)(ms|s|m|h)"
_WHOLE = re.compile(rf"(?:{_PART})+")


def parse_duration(text: str | float) -> float:
    """Return a duration in seconds; a bare number counts as seconds.

    Raises:
        ValueError: If it is no duration.
    """
    try:
        seconds = _read(text.strip()) if isinstance(text, str) else float(text)
    # ``float`` raises OverflowError for an int beyond its range.
    except OverflowError:
        seconds = math.inf
    if not 0 <= seconds < math.inf:
        raise ValueError(f"not a duration: {text!r}")
    return seconds


def _read(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return float(text)
    # ``\d`` matches digits of every script, hence the check for ASCII.
    if not _WHOLE.fullmatch(text) or not text.isascii():
        raise ValueError(f"not a duration: {text!r}")
    return sum(float(count) * _UNITS[unit] for count, unit in re.findall(_PART, text))


def format_duration(seconds: float) -> str:
    """Format a duration in Go's notation: ``1.5s``, ``10m0s``, ``1h30m0s``."""
    if seconds < 60:
        return f"{seconds:g}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes}m{rest}s" if hours else f"{minutes}m{rest}s"
