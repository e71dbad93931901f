"""The private folder of one desktop: sockets, logs, profiles, home, recordings."""

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .account import Account

PARTS = ("bin", "home", "logs", "recordings", "run", "share", "tmp", "work")

X_SOCKETS = Path("/tmp/.X11-unix")  # noqa: S108 - where every X client looks for servers
WORLD_WRITABLE_STICKY = 0o1777
LONGEST_SOCKET_PATH = 100
"""``sun_path`` holds 108 bytes (unix(7)); file names are added to this."""


@dataclass(frozen=True)
class Folder:
    """Where one desktop keeps what is its own."""

    path: Path

    @property
    def recordings(self) -> Path:
        """Recordings, one folder each; all that is kept when the desktop ends."""
        return self.path / "recordings"

    @property
    def work(self) -> Path:
        """The working directory of commands that name none."""
        return self.path / "work"

    def make(self, account: Account) -> None:
        """Create it, readable by ``account`` alone.

        Raises:
            OSError: If it cannot be made, or its path is too long to hold a socket.
        """
        if len(os.fsencode(self.path)) + len("/session-bus.sock") > LONGEST_SOCKET_PATH:
            raise OSError(f"{self.path} is too long a path: sockets in it could not be bound")
        self.path.mkdir(mode=0o711, parents=True, exist_ok=True)
        _own(self.path, account)
        for path in (self.path / part for part in PARTS):
            # An earlier desktop's user may have put a link there: to what root must not give away.
            if path.is_symlink():
                path.unlink()
            path.mkdir(exist_ok=True)
            _own(path, account, os.O_NOFOLLOW)
        if os.geteuid() == 0:
            self._hand_over(account)
        if os.geteuid() == 0 and not X_SOCKETS.exists():
            X_SOCKETS.mkdir()
            X_SOCKETS.chmod(WORLD_WRITABLE_STICKY)

    def _hand_over(self, account: Account) -> None:
        """Give what a desktop left here that worked as another user, and perhaps was killed."""
        given = (account.uid, account.gid)
        # By descriptors: whoever still runs as that user may put a link in the place of a name.
        for _, _, names, place in os.fwalk(self.path):
            os.fchown(place, *given)
            for name in names:
                facts = os.stat(name, dir_fd=place, follow_symlinks=False)
                # Another name of a file elsewhere must not give that file away.
                if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1:
                    os.chown(name, *given, dir_fd=place, follow_symlinks=False)

    def clear(self) -> None:
        """Remove all but recordings; and the whole folder when there are none."""
        for path in self.path.iterdir() if self.path.exists() else ():
            if path == self.recordings:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        for path in (self.recordings, self.path):
            # The folder's parent may be root's alone; then whoever started us removes it.
            with suppress(PermissionError):
                if path.exists() and not any(path.iterdir()):
                    path.rmdir()


def _own(folder: Path, account: Account, flags: int = 0) -> None:
    """Close a folder to all but the account."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | flags)
    try:
        os.fchmod(descriptor, 0o700)
        if os.geteuid() == 0:
            os.fchown(descriptor, account.uid, account.gid)
    finally:
        os.close(descriptor)


def run_root(uid: int, environment: Mapping[str, str]) -> Path:
    """Return where this user's desktops have their folders: short, private, on disk.

    ``DESKHAND_RUN_DIR`` names another place, for desktops that know nothing of the others.
    """
    chosen = environment.get("DESKHAND_RUN_DIR")
    if chosen:
        return Path(chosen).absolute()
    if uid == 0:
        return Path("/var/lib/deskhand/desktops")
    runtime = environment.get("XDG_RUNTIME_DIR")
    if runtime and Path(runtime).is_dir():
        return Path(runtime) / "deskhand"
    return Path(tempfile.gettempdir()) / f"deskhand-{uid}"


def open_root(root: Path) -> None:
    """Make the place of all desktops' folders: others may pass through, not look.

    Raises:
        PermissionError: If somebody else owns it.
    """
    root.mkdir(mode=0o711, parents=True, exist_ok=True)
    if root.stat().st_uid != os.geteuid():
        raise PermissionError(f"{root} belongs to another user")
    root.chmod(0o711)
