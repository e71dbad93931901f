"""What an application says about itself in its .desktop file.

Source: Desktop Entry Specification 1.5, freedesktop.org.
"""

import shlex
from dataclasses import dataclass

GROUP = "[Desktop Entry]"
_ESCAPES = {"\\s": " ", "\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\"}
_FIELDS = "fFuUdDnNickvm"


@dataclass(frozen=True)
class DesktopEntry:
    """An application that can be launched."""

    id: str
    """Name of its file without the ending."""
    name: str
    argv: tuple[str, ...]
    """Program and arguments, without the placeholders for files."""
    types: tuple[str, ...] = ()
    """Media types that it opens."""
    try_exec: str = ""
    """A program that must be there; empty for its own."""
    terminal: bool = False
    """Whether it wants a terminal to run in."""


def entry(identifier: str, text: str) -> DesktopEntry | None:
    """Read a file; None if it is no application that is to be shown."""
    values = _values(text)
    if values.get("Type") != "Application" or "true" in (
        values.get("Hidden"),
        values.get("NoDisplay"),
    ):
        return None
    try:
        words = shlex.split(_unescaped(values.get("Exec", "")))
    except ValueError:
        return None
    argv = tuple(word.replace("%%", "%") for word in words if not _is_field(word))
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


def _is_field(word: str) -> bool:
    return len(word) == 2 and word[0] == "%" and word[1] in _FIELDS


def _unescaped(value: str) -> str:
    result, rest = "", value
    while rest:
        pair = rest[:2]
        if pair in _ESCAPES:
            result, rest = result + _ESCAPES[pair], rest[2:]
        else:
            result, rest = result + rest[0], rest[1:]
    return result
