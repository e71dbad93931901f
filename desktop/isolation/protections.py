"""Protections of a desktop: each by its name, with its state and the reason where it is missing.

A desktop that root starts with a user of its own has those that this version knows, where the
kernel and the installed programs allow it. Other desktops share what the user who runs them has.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

NONE = "none"
OPEN = "open"
"""State of an egress that is not enforced."""

NAMES = ("namespaces", "limits", "separate users", "filtered X clients", "stop in private")
"""All protections, in the order in which they are listed."""

LOSSES = {
    "namespaces": "programs see the processes and files of all users of the machine",
    "limits": "one desktop can take all memory and processes of the machine",
    "separate users": "programs read and change recordings, logs and sign-ins of the browser",
    "filtered X clients": "programs see the screen and every key, type and click",
    "stop in private": "programs go on while a person is in private",
}
"""What does not hold where a protection is missing."""

COSTS = {
    "limits": "a program that needs more memory or processes ends",
    "separate users": "the browser saves files below Downloads only",
    "filtered X clients": (
        "programs draw without GLX, take no pictures of the screen, send no input, get no keys of "
        "other windows and change no settings of screen and keyboard"
    ),
    "stop in private": "commands stand still while a person is in private",
}
"""What honest programs cannot do where a protection holds; one without an entry costs nothing."""


@dataclass(frozen=True)
class Protection:
    """One protection of a desktop."""

    name: str
    state: str
    """``on`` or how it is enforced; ``none`` if it is missing."""
    reason: str = ""
    """Why it is missing, or not as strong as it can be; else empty."""

    @property
    def missing(self) -> bool:
        """True for a protection that the desktop does not have."""
        return self.state in (NONE, OPEN)

    @property
    def effect(self) -> str:
        """What is lost where it is missing, else what it costs; empty if it costs nothing."""
        return (LOSSES if self.missing else COSTS).get(self.name, "")

    def __str__(self) -> str:
        because = f", because {self.reason}" if self.reason else ""
        return f"{self.name}: {self.state}{because}"


@dataclass(frozen=True)
class Protections:
    """All protections of one desktop."""

    entries: tuple[Protection, ...] = ()

    def adding(self, one: Protection) -> "Protections":
        """Return these with one more, which replaces one of the same name."""
        others = tuple(entry for entry in self.entries if entry.name != one.name)
        return replace(self, entries=(*others, one))

    @property
    def warnings(self) -> list[str]:
        """One sentence for each protection that is missing on this machine, with its reason."""
        return [str(entry) for entry in self.entries if entry.missing]

    def to_json(self) -> list[dict[str, Any]]:
        """Return the list of the status route."""
        return [
            {"name": entry.name, "state": entry.state, "because": entry.reason or None}
            for entry in self.entries
        ]


def none_at_all(reason: str, names: Iterable[str] = NAMES) -> Protections:
    """Return the protections of a desktop that has none of them."""
    return Protections(tuple(Protection(name, NONE, reason) for name in names))


def separated(refused: str) -> Protection:
    """Return the protection by namespaces; ``refused`` is why there are none, or empty."""
    return Protection("namespaces", NONE, refused) if refused else Protection("namespaces", "on")


def limited(refused: str) -> Protection:
    """Return the protection by limits; ``refused`` is why no control group enforces them."""
    return Protection("limits", "enforced by keeper" if refused else "on", refused)


def separate_users(refused: str) -> Protection:
    """Return the protection of the service; ``refused`` is why there are no namespaces, or empty.

    The service, its recordings and the X server have another user than the agent's programs.
    """
    if not refused:
        return Protection("separate users", "on")
    reason = "without namespaces, programs can take the place of an X server that restarts"
    return Protection("separate users", "weak", reason)


def of_applications(*, glx: bool, refused: str = "", ungrouped: str = "") -> tuple[Protection, ...]:
    """Return the protections of a person and of the screen against the agent's programs.

    ``refused`` is why there are no namespaces, or empty; ``ungrouped`` why commands have no control
    group, which is stopped as a whole.
    """
    clients = Protection("filtered X clients", "on")
    if refused:
        reason = (
            "without namespaces, the browser has the user of the agent's programs, which can read "
            "its memory and its files"
        )
        clients = Protection("filtered X clients", "weak", reason)
    if glx:
        reason = "the setting glx is on, and GLX can read the windows of others"
        clients = Protection("filtered X clients", NONE, reason)
    if not ungrouped:
        return clients, Protection("stop in private", "on")
    reason = f"programs are stopped by signals, and some can continue themselves: {ungrouped}"
    return clients, Protection("stop in private", "weak", reason)


def reason_of_level(level: str, *, attached: bool) -> str:
    """Return why a desktop of a level without protections has none."""
    if attached:
        return "the desktop is a screen that existed before"
    if level == "shared":
        return "the desktop runs as the user who started it"
    return "the desktop runs as a user that was requested"
