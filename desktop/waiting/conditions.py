"""Conditions that a request waits for, and whether facts about the desktop meet them. Pure."""

import difflib
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.actions.fields import region, text
from deskhand.desktop.actions.requests import SPACE_FIELDS, space_of
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.fields import flag, known, number, within, wrong
from deskhand.desktop.geometry import Region, Size, Space, convert_region, whole

Json = dict[str, Any]

USUAL_SECONDS = 30.0
LONGEST_SECONDS = 300.0
"""Longest wait; as long as a wait for the output of a process."""
LONGEST_QUIET = 30_000
CONDITIONS = ("text", "window", "changed_region", "quiet_ms", "process", "url")
FIELDS = (*CONDITIONS, "timeout_seconds", "screenshot", *SPACE_FIELDS)
_MOST_SEEN = 20


@dataclass(frozen=True)
class Conditions:
    """What a request waits for: all that is given must hold at one moment."""

    space: Space
    text: str = ""
    """Part of the name of a visible widget, in any case."""
    window: str = ""
    """Part of the title of a window, in any case."""
    changed_region: Region | None = None
    """Region in native pixels that must show something else than at the begin of the wait."""
    quiet_ms: int = 0
    """Milliseconds for which nothing may be painted."""
    process: str = ""
    """Id of a process that must have exited."""
    url: str = ""
    """Part of the URL of a page of the browser."""
    seconds: float = USUAL_SECONDS
    screenshot: bool = True


@dataclass(frozen=True)
class Facts:
    """The desktop at one moment, as far as the conditions depend on it."""

    texts: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    changed: bool = False
    quiet: bool = False
    exited: bool = False


def read_conditions(data: Json, native: Size) -> Conditions:
    """Read the body of a request.

    Raises:
        InvalidAction: If a field is unknown or wrong, or no condition is given.
    """
    known(data, FIELDS)
    if all(data.get(name) is None for name in CONDITIONS):
        raise InvalidAction("Nothing to wait for.", f"Give one of: {', '.join(CONDITIONS)}.")
    space = space_of(data, native)
    shows = data.get("screenshot")
    return Conditions(
        space,
        text=_text(data, "text"),
        window=_text(data, "window"),
        changed_region=_region(data, space, native),
        quiet_ms=_quiet(data),
        process=_text(data, "process"),
        url=_text(data, "url"),
        seconds=_seconds(data),
        screenshot=True if shows is None else flag("screenshot", shows),
    )


def unmet(wanted: Conditions, facts: Facts) -> tuple[str, ...]:
    """Return the names of the conditions that the facts do not meet."""
    met = {
        "text": _is_in(wanted.text, facts.texts),
        "window": _is_in(wanted.window, facts.windows),
        "changed_region": wanted.changed_region is None or facts.changed,
        "quiet_ms": not wanted.quiet_ms or facts.quiet,
        "process": not wanted.process or facts.exited,
        "url": _is_in(wanted.url, facts.urls),
    }
    return tuple(name for name in CONDITIONS if not met[name])


def seen(wanted: Conditions, facts: Facts) -> Json:
    """Return what was there, for the conditions of a wait: the texts nearest to the wanted one."""
    found: Json = {"windows": list(facts.windows)}
    if wanted.text:
        by_case = {one.casefold(): one for one in facts.texts}
        nearest = difflib.get_close_matches(wanted.text.casefold(), by_case, _MOST_SEEN, 0.3)
        found["texts"] = [by_case[one] for one in nearest]
    if wanted.url:
        found["urls"] = list(facts.urls)
    if wanted.changed_region is not None:
        found["changed"] = facts.changed
    if wanted.quiet_ms:
        found["quiet"] = facts.quiet
    if wanted.process:
        found["process_running"] = not facts.exited
    return found


def _text(data: Json, name: str) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not text(name, value).strip():
        raise wrong(name, "a text that is not blank")
    return str(value)


def _region(data: Json, space: Space, native: Size) -> Region | None:
    value = data.get("changed_region")
    if value is None:
        return None
    given = region("changed_region", value).intersection(whole(space.size))
    if given.is_empty:
        raise InvalidAction('"changed_region" must have a part of the screen.')
    return convert_region(given, space.size, native)


def _quiet(data: Json) -> int:
    value = data.get("quiet_ms")
    return 0 if value is None else within(1, LONGEST_QUIET)("quiet_ms", value)


def _seconds(data: Json) -> float:
    value = data.get("timeout_seconds")
    if value is None:
        return USUAL_SECONDS
    if not 0 <= number("timeout_seconds", value) <= LONGEST_SECONDS:
        raise InvalidAction(f'"timeout_seconds" must be from 0 to {LONGEST_SECONDS:.0f}.')
    return float(value)


def _is_in(wanted: str, found: tuple[str, ...]) -> bool:
    return any(wanted.casefold() in one.casefold() for one in found) if wanted else True
