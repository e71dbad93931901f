"""What a program waits for on a screen, and whether a screen shows it. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.geometry import Region
from deskhand.desktop.results import Picture, Widget

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True)
class Wanted:
    """Conditions that must hold at one moment; empty ones do not count.

    Raises:
        InvalidAction: If there is none, or the colour is not valid.
    """

    text: str = ""
    window: str = ""
    widget: str = ""
    role: str = ""
    colour: str = ""
    region: Region | None = None
    """Where the colour must be; the whole screen by default."""

    def __post_init__(self) -> None:
        if not (self.text or self.window or self.widget or self.colour):
            raise InvalidAction("Nothing to wait for.", "Give text, window, widget or colour.")
        if self.colour and not _COLOUR.fullmatch(self.colour):
            raise InvalidAction(f"{self.colour!r} is no colour.", 'Give one as "#ff8000".')

    def conditions(self) -> dict[str, str]:
        """Return the conditions that the service itself waits for."""
        # The service compares parts of names: a whole one is at least that.
        given = {"text": self.text or self.widget, "window": self.window}
        return {name: value for name, value in given.items() if value}

    def __str__(self) -> str:
        role = f" of role {self.role}" if self.role else ""
        named = {
            f'text "{self.text}"': self.text,
            f'window "{self.window}"': self.window,
            f'widget "{self.widget}"{role}': self.widget,
            f"colour {self.colour}": self.colour,
        }
        return " and ".join(words for words, value in named.items() if value)


@dataclass(frozen=True)
class Awaited:
    """The screen when it showed what was awaited."""

    picture: Picture
    widget: Widget | None = None
    """The awaited widget, whose ``ref`` can be clicked."""


def shows_colour(pixels: bytes, colour: str) -> bool:
    """Return whether RGB ``pixels``, three bytes each, contain a colour.

    >>> shows_colour(bytes([0, 255, 0, 255, 128, 0]), "#ff8000")
    True
    """
    wanted = bytes.fromhex(colour[1:])
    at = pixels.find(wanted)
    # A hit may lie across two pixels.
    while at >= 0 and at % 3:
        at = pixels.find(wanted, at + 1)
    return at >= 0


def find_widget(tree: Iterable[Widget], name: str, role: str) -> Widget | None:
    """Return the first widget with a whole name, in any case, and a role if one is given."""
    for widget in tree:
        if widget.name.casefold() == name.casefold() and role in ("", widget.role):
            return widget
        below = find_widget(widget.children, name, role)
        if below is not None:
            return below
    return None


def absence(wanted: Wanted, timeout: float, seen: Mapping[str, Any]) -> str:
    """Return the sentence that states what did not appear, and what was there instead."""
    lists = ((name, seen.get(name) or ()) for name in ("windows", "texts"))
    there = [f"{name}: " + ", ".join(f'"{one}"' for one in found) for name, found in lists if found]
    instead = f"; there were {'; '.join(there)}" if there else ""
    return f"no {wanted} in {timeout:g} s{instead}"
