"""Options of a desktop service that a template may set. Pure."""

import re
from typing import Any

_VALUES = {
    "--size": re.compile("[1-9][0-9]{2,3}x[1-9][0-9]{2,3}"),
    "--env": re.compile(
        r"(?!LD_|PYTHON|(PATH|HOME|USER|DISPLAY|XAUTHORITY)=)[A-Z_][A-Z0-9_]{0,63}=[^\0]{0,1000}"
    ),
    **dict.fromkeys(
        ("--desktop-processes", "--desktop-memory", "--desktop-tmp"),
        re.compile("[1-9][0-9]{0,6}"),
    ),
}
"""By option; no value can be taken for another option."""
MOST_OPTIONS = 128


def are_of_template(options: Any) -> bool:
    """Return whether these are options that may be set, each followed by a value for it."""
    if not isinstance(options, list) or len(options) % 2 or len(options) > MOST_OPTIONS:
        return False
    if not all(isinstance(one, str) for one in options):
        return False
    pairs = zip(options[::2], options[1::2], strict=True)
    return all(name in _VALUES and _VALUES[name].fullmatch(text) for name, text in pairs)
