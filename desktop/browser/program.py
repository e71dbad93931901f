"""Search for an installed browser.

On Ubuntu the package of Chromium installs a script that starts a snap. A snap cannot run here: it
reads neither the desktop's profile nor its X cookie, and needs a login session of its own.
"""

import os
import re
import shutil
from pathlib import Path

from deskhand.desktop.errors import NoBrowser

PROGRAMS = (
    "chromium",
    "google-chrome-stable",
    "google-chrome",
    "microsoft-edge-stable",
    "brave-browser",
)
"""Names of browsers that are accepted, the preferred one first."""

_INSTALL = (
    "install chromium (Debian), or google-chrome-stable, microsoft-edge-stable or brave-browser "
    "from its vendor (Ubuntu)"
)
_SNAP_SCRIPT = re.compile(rb"/snap/bin/|\bsnap (run|install)\b")
_SCRIPT_BYTES = 4096


def find_browser(wanted: str = "", path: str | None = None) -> str:
    """Return the absolute path of the browser; ``wanted`` is a name or a path, empty for any.

    Raises:
        NoBrowser: If there is none but, perhaps, snaps; the text names what to install.
    """
    search = path or os.environ.get("PATH", os.defpath)
    snaps = []
    for name in (wanted,) if wanted else PROGRAMS:
        found = shutil.which(name, path=search)
        if found is None:
            continue
        if not is_snap(Path(found)):
            return found
        snaps.append(found)
    if snaps:
        raise NoBrowser(f"{snaps[0]} starts a snap, which cannot run on a desktop: {_INSTALL}")
    if wanted:
        raise NoBrowser(f"the browser {wanted!r} of the settings is not installed: {_INSTALL}")
    raise NoBrowser(f"no browser is installed: {_INSTALL}")


def is_snap(program: Path) -> bool:
    """Return True if a program is a snap, or a script that starts or installs one."""
    real = program.resolve()
    if real.name == "snap" or "snap" in real.parts[:2]:
        return True
    try:
        with real.open("rb") as file:
            begin = file.read(_SCRIPT_BYTES)
    except OSError:
        return False
    return begin.startswith(b"#!") and _SNAP_SCRIPT.search(begin) is not None
