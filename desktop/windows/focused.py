"""Value for the window with the keyboard focus, and what is special about some windows."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Focused:
    """The window with the keyboard focus."""

    id: int
    title: str
    hint: str = ""
    """How to use the window, where it takes other input than it seems to."""


_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_OPENS, _SAVES = ("Open File", "Open Files", "Select Folder"), ("Save File",)
_TAKES = "This file chooser of Chromium takes neither Return nor a double click"


def is_chooser(title: str) -> bool:
    """Return True if the title is that of a file chooser of Chromium; others may have it too."""
    return title.startswith((*_OPENS, *_SAVES))


def hint_of(title: str, class_name: str) -> str:
    """Return the hint for a window with that title and class (WM_CLASS); empty for most."""
    # Return closes a chooser of Chromium 156 without a file; its button chooses one.
    if class_name.casefold() not in _BROWSERS or not is_chooser(title):
        return ""
    if title.startswith(_SAVES):
        return f"{_TAKES}: click its button Save."
    upload = "cancel it and use file_upload of the browser tool, if you have that"
    return f"{_TAKES}: type a path or click a file, then click its button Open; or {upload}."
