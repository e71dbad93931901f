"""Parser of .desktop files.

Source: Desktop Entry Specification 1.5, https://specifications.freedesktop.org/desktop-entry-spec/.
"""

import shlex
from dataclasses import dataclass

GROUP = "[Desktop Entry]"
_ESCAPES = {"\\s": " ", "\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\"}
# Field codes of the Exec key, including the deprecated ones, which are to be removed too.
_FIELDS = "fFuUdDnNickvm"


@dataclass(frozen=True)
class DesktopEntry:
    """An application that can be launched."""

    id: str
    """Name of the file without its suffix."""
    name: str
    argv: tuple[str, ...]
    """Program and arguments, without field codes."""
    types: tuple[str, ...] = ()
    """Media types that the application opens."""
    try_exec: str = ""
    """Program that must be installed; empty for ``argv[0]``."""
    terminal: bool = False
    """True for a program that runs in a terminal."""


def entry(identifier: str, text: str) -> DesktopEntry | None:
    """Parse a file; None if it is hidden or not of the type Application."""
    values = _values(text)
    if values.get("Type") != "Application" or "true" in (
        values.get("Hidden"),
        values.get("NoDisplay"),
    ):
        return None
    try:
        # The escapes of strings are replaced before the quoting rule of Exec applies (section 7).
        parts = shlex.split(_unescaped(values.get("Exec", "")))
    except ValueError:
        return None
    argv = tuple(part.replace("%%", "%") for part in parts if not _is_field(part))
    if not argv or not argv[0]:
        return None
    return DesktopEntry(
        id=identifier,
        name=values.get("Name") or identifier,
        argv=argv,
        types=tuple(one for one in values.get("MimeType", "").split(";") if one),
        try_exec=values.get("TryExec", ""),
        terminal=values.get("Terminal") == "true",
    )


def _values(text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    inside = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            inside = line == GROUP
        elif inside and "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            values.setdefault(key.strip(), value.strip())
    return values


def _is_field(part: str) -> bool:
    # A field code is an argument of its own; within another argument it is not expanded.
    return len(part) == 2 and part[0] == "%" and part[1] in _FIELDS


def _unescaped(value: str) -> str:
    result, rest = "", value
    while rest:
        pair = rest[:2]
        if pair in _ESCAPES:
            result, rest = result + _ESCAPES[pair], rest[2:]
        else:
            result, rest = result + rest[0], rest[1:]
    return result
