"""Durations as people and models write them: ``30s``, ``5m``, ``1h30m``."""

import math
import re

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = r"(\d+(?:\.\d+)?|\.\d+)(ms|s|m|h)"
_WHOLE = re.compile(rf"(?:{_PART})+")


def seconds_of(text: str | float) -> float:
    """Return a duration in seconds; a bare number is seconds already.

    Raises:
        ValueError: If it is none.
    """
    try:
        seconds = _read(text.strip()) if isinstance(text, str) else float(text)
    except OverflowError:
        seconds = math.inf
    if not 0 <= seconds < math.inf:
        raise ValueError(f"not a duration: {text!r}")
    return seconds


def _read(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return float(text)
    if not _WHOLE.fullmatch(text) or not text.isascii():
        raise ValueError(f"not a duration: {text!r}")
    return sum(float(count) * _UNITS[unit] for count, unit in re.findall(_PART, text))


def shown(seconds: float) -> str:
    """Write a duration: ``1.5s``, ``10m``, ``1h30m``."""
    if seconds < 60:
        return f"{seconds:g}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (rest, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count)
