"""Mounts of one desktop: which trees it sees, and which of them it may write.

Everything that the machine has mounted is made read-only first. Then the places of the plan are
mounted, the ones nearer to the root first, so that each covers what an earlier one shows.

Values are named tuples here and in `limits`: the module ``dataclasses`` would cost init 1.5 MiB.
"""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

HIDDEN = "DESKHAND_HIDDEN"
"""Variable with more directories that desktops must not see, separated as in PATH."""

TEMPORARY = "/tmp"  # noqa: S108 - a private one is mounted there
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - the same
X_SOCKETS = "/tmp/.X11-unix"  # noqa: S108 - compiled into every X client
X_KEYMAPS = "/var/lib/xkb"
"""Where an X server that may write there compiles its keymap; else in `/tmp`, under a name that a
program of the agent can take (Xorg, ``XKM_OUTPUT_DIR``)."""
KEYMAP_BYTES = 1 << 20
WORLD_WRITABLE_STICKY = 0o1777
GROUP_WRITABLE_STICKY = 0o1775
GROUP_ONLY = 0o770
ENTER_ONLY = 0o711
HIDDEN_BYTES = 1 << 20
"""Size of an empty file system: room for the directories on which others are mounted."""

Kind = Literal["empty", "shown", "file"]

USER_FILES = (("run/passwd", "/etc/passwd"), ("run/group", "/etc/group"))
"""Files below a desktop's directory, with the places where the desktop sees them."""


class DesktopView(NamedTuple):
    """The places of one desktop; all paths are absolute, without links."""

    folder: str
    """The desktop's own directory, which it may write."""
    hidden: tuple[str, ...]
    """Directories that appear empty: those of all desktops, and of the control plane."""
    writable: tuple[str, ...] = ()
    """Other directories that stay as they are, such as the working directory of commands."""
    temporary_bytes: int = 1 << 30
    """Size of ``/tmp``, and of ``/dev/shm``."""
    x_group: int = 0
    """Group of X servers, which may make their sockets and keymaps; 0 for everyone."""
    files: tuple[tuple[str, str], ...] = ()
    """Files, each with the place where the desktop sees it."""
    profile: str = ""
    """The files of a named profile, which are seen in place of the browser's directory."""


class Mount(NamedTuple):
    """One mount: an empty file system, a tree of the machine at its own place, or a file."""

    kind: Kind
    path: str
    mode: int = ENTER_ONLY
    bytes: int = 0
    sealed: bool = False
    """True to make it read-only at the end."""
    source: str = ""
    """The file or the tree to show at the path, if it is not the path itself."""
    group: int = 0
    """Group of an empty file system."""


def mounts(view: DesktopView) -> tuple[Mount, ...]:
    """Return the mounts in their order."""
    places = {path: Mount("empty", path, ENTER_ONLY, HIDDEN_BYTES, True) for path in view.hidden}
    places |= {
        path: Mount("empty", path, WORLD_WRITABLE_STICKY, view.temporary_bytes)
        for path in (TEMPORARY, SHARED_MEMORY)
    }
    if view.x_group:
        keymaps = Mount("empty", X_KEYMAPS, GROUP_ONLY, KEYMAP_BYTES, group=view.x_group)
        places[X_KEYMAPS] = keymaps
    places |= {path: Mount("shown", path) for path in (*view.writable, view.folder) if path != "/"}
    places |= {path: Mount("file", path, sealed=True, source=source) for source, path in view.files}
    if view.profile:
        browser = f"{view.folder}/browser"
        places[browser] = Mount("shown", browser, source=view.profile)
    ordered = sorted(places.values(), key=lambda one: PurePosixPath(one.path).parts)
    chosen: list[Mount] = []
    for one in ordered:
        above = _nearest(one.path, chosen)
        # What lies below an empty file system is hidden already.
        if one.kind != "empty" or above is None or above.kind == "shown":
            chosen.append(one)
    return tuple(chosen)


class NotExecutable(NamedTuple):
    """Places in which the browser may execute nothing, nor load libraries from."""

    mounted: tuple[str, ...] = ()
    """Mounts, without those below them."""
    folders: tuple[str, ...] = ()
    """Directories, with all below them."""


def not_executable(view: DesktopView) -> NotExecutable:
    """Return the places that programs of the agent, or pages that a browser saves, can fill."""
    written = tuple(path for path in view.writable if path != "/")
    folders = tuple(f"{view.folder}/{name}" for name in ("browser", "home", "run", "tmp", "work"))
    return NotExecutable((TEMPORARY, SHARED_MEMORY, *written), folders)


def _nearest(path: str, chosen: Iterable[Mount]) -> Mount | None:
    place = PurePosixPath(path)
    above = [one for one in chosen if place.is_relative_to(one.path)]
    return max(above, key=lambda one: len(one.path), default=None)
