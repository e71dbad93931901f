"""Ages and sizes as short texts for tables. Pure."""

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
UNITS = ("B", "kB", "MB", "GB", "TB")


def age(seconds: float) -> str:
    """Return a duration with its largest unit, as ``5 min``."""
    seconds = max(0.0, seconds)
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        return f"{seconds // MINUTE:.0f} min"
    if seconds < 2 * DAY:
        return f"{seconds // HOUR:.0f} h"
    return f"{seconds // DAY:.0f} d"


def clock(seconds: float) -> str:
    """Return a duration as minutes and seconds, as ``4:07``."""
    whole = int(max(0.0, seconds))
    return f"{whole // 60}:{whole % 60:02}"


def amount(count: int) -> str:
    """Return a count with a decimal prefix, as ``12.3k``."""
    for limit, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= limit:
            return f"{count / limit:.1f}{letter}"
    return str(count)


def size(count: int) -> str:
    """Return bytes with a decimal unit, as ``1.5 MB``."""
    value, unit = float(count), 0
    while value >= 1000 and unit < len(UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{count} B" if unit == 0 else f"{value:.1f} {UNITS[unit]}"
