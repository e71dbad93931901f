"""Choice of the window that a request of OSWorld names. Pure."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from .bodies import WindowBody

Window = Mapping[str, Any]
"""JSON of a window."""


def chosen(windows: Iterable[Window], wanted: WindowBody) -> Window | None:
    """Return the first window with the name: a part of its title in any case, unless strict."""
    for window in windows:
        text = str(window["class" if wanted.by_class else "title"] or "")
        if text == wanted.name if wanted.strict else wanted.name.lower() in text.lower():
            return window
    return None


def of_class(windows: Iterable[Window], name: str) -> Window | None:
    """Return the first window of a WM_CLASS, in any case."""
    return chosen(windows, WindowBody(name, strict=False, by_class=True))


def is_terminal(window: Window) -> bool:
    """Return whether a window is that of an xterm, whose text a program of the agent can read."""
    return str(window["class"] or "").lower() == "xterm" and window["pid"] is not None


def opened(before: Collection[object], windows: Iterable[Window], target: str) -> bool:
    """Return whether a window shows a file or an address that was opened.

    ``before`` are the ids of the windows before that. An application that runs may show it in one
    of them, which then has its name in the title.
    """
    name = PurePosixPath(unquote(urlsplit(target).path if "://" in target else target)).stem
    return any(
        window["id"] not in before or (name and name.lower() in str(window["title"]).lower())
        for window in windows
    )
