"""The private directory of one desktop: sockets, logs, profiles, home, recordings.

Root creates it and the desktop's user owns it, so that anything in it may be a link that this user
made. Ownership is changed only through descriptors that do not follow links.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from .account import Account
from .desktop_user import DesktopUser
from .environment import BROWSER_HOME

Owner = Literal["root", "agent", "service", "browser", "bus"]


class DirectoryAccess(NamedTuple):
    """One directory below that of a desktop, in a desktop whose users are separate."""

    owner: Owner
    group: Owner
    mode: int


# New files below a directory with the set-group-ID bit get the group of the directory (inode(7)).
_OF_SERVICE_FOR_AGENT = DirectoryAccess("service", "agent", 0o2750)

DOWNLOADS = "home/Downloads"
"""Folder in which the browser creates files, which have the agent's group."""

PARTS = {
    # The browser's user is a member of the agent's group.
    **dict.fromkeys(("home", "tmp", "work"), DirectoryAccess("agent", "agent", 0o750)),
    DOWNLOADS: DirectoryAccess("agent", "agent", 0o2770),
    "run/agent": DirectoryAccess("agent", "agent", 0o700),
    **dict.fromkeys(("run/bus", "run/bus/at-spi"), DirectoryAccess("bus", "agent", 0o710)),
    **dict.fromkeys(
        ("etc", "journals", "logs", "recordings", "run/service"),
        DirectoryAccess("service", "service", 0o700),
    ),
    **dict.fromkeys(("bin", "libexec", "share"), DirectoryAccess("service", "service", 0o755)),
    **dict.fromkeys(("processes", "run/display"), _OF_SERVICE_FOR_AGENT),
    "browser": DirectoryAccess("browser", "browser", 0o700),
    "run": DirectoryAccess("root", "root", 0o711),
    BROWSER_HOME: DirectoryAccess("service", "browser", 0o2750),
}
"""The parts of a desktop's directory. Where all users are the same, it alone has access to all.

The agent owns no directory in which another user has a name, as it could move that away; only the
browser's downloads are the agent's to move.
"""

LONGEST_NAME = "/run/service/rfb.sock"
"""The longest path of a socket below the directory."""

LOCKS = "locks"
"""Folder beside the desktops' directories with one lock for each of them."""

X_SOCKETS = Path("/tmp/.X11-unix")  # noqa: S108 - where every X client looks for servers
WORLD_WRITABLE_STICKY = 0o1777
LONGEST_SOCKET_PATH = 100
"""``sun_path`` holds 108 bytes (unix(7)); file names are added to this."""


@dataclass(frozen=True)
class DesktopDirectory:
    """The directory of one desktop, and the paths below it."""

    path: Path

    @property
    def recordings(self) -> Path:
        """Recordings, one directory each; they are kept when the desktop ends."""
        return self.path / "recordings"

    @property
    def work(self) -> Path:
        """The working directory of commands that name none."""
        return self.path / "work"

    @property
    def journals(self) -> Path:
        """Files of the calls that were executed; the next service on the directory reads them."""
        return self.path / "journals"

    @property
    def action_journal(self) -> Path:
        """File of the actions that were executed."""
        return self.journals / "calls.jsonl"

    @property
    def detached_journal(self) -> Path:
        """The same for process starts and changes of files."""
        return self.journals / "tool-calls.jsonl"

    def is_in(self, root: Path) -> bool:
        """Return True for a directory of Deskhand's own, False for one that the user chose."""
        return self.path.parent == root

    def make(self, account: Account) -> None:
        """Create the directory and its parts, each accessible to those users who need it.

        Raises:
            OSError: If it cannot be created, or its path is too long for a socket in it.
        """
        if len(os.fsencode(self.path)) + len(LONGEST_NAME) > LONGEST_SOCKET_PATH:
            raise OSError(f"{self.path} is too long a path: sockets in it could not be bound")
        self.path.mkdir(mode=0o711, parents=True, exist_ok=True)
        _own(self.path, account, DirectoryAccess("root", "root", 0o711))
        # A directory comes before those below it.
        for name, part in sorted(PARTS.items()):
            path = self.path / name
            # An earlier desktop's user may have left a link to a file of root here, or a file.
            if path.is_symlink() or (path.exists() and not path.is_dir()):
                path.unlink()
            path.mkdir(exist_ok=True)
            if path == self.journals:
                self._move_journals()
            if os.geteuid() == 0 and part.owner != "root":
                self._change_owner(path, account, part)
            _own(path, account, part, os.O_NOFOLLOW)
        if os.geteuid() == 0 and not X_SOCKETS.exists():
            X_SOCKETS.mkdir()
            X_SOCKETS.chmod(WORLD_WRITABLE_STICKY)

    def _move_journals(self) -> None:
        """Move the journals of a version that had them in the directory itself.

        The agent owned that directory then, and could put anything in their place: only a regular
        file without other names is moved.
        """
        for journal in (self.action_journal, self.detached_journal):
            before = self.path / journal.name
            with suppress(FileNotFoundError):
                status = before.lstat()
                plain = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
                if plain and not os.path.lexists(journal):
                    before.rename(journal)

    def _change_owner(self, path: Path, account: Account, part: DirectoryAccess) -> None:
        """Change the owner of files that an earlier desktop left here as another user."""
        owner = (_uid(account, part.owner), _gid(account, part.group))
        # A process of the earlier user may replace a name by a link at any time, so files are
        # addressed by the descriptor of their directory.
        for _, _, names, folder in os.fwalk(path):
            os.fchown(folder, *owner)
            for name in names:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                # A hard link to a file elsewhere would change the owner of that file.
                if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
                    os.chown(name, *owner, dir_fd=folder, follow_symlinks=False)

    def clear(self, *, keep_calls: bool = False) -> None:
        """Remove all but recordings, and the whole directory when there are none.

        With ``keep_calls`` journals that hold a call are kept too: the next service on this
        directory must not execute the calls again.
        """
        kept = {self.recordings}
        if keep_calls:
            journals = (self.action_journal, self.detached_journal)
            kept |= {self.journals} if any(map(_full, journals)) else set()
        for path in self.path.iterdir() if self.path.exists() else ():
            if path in kept:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        for path in (self.recordings, self.path):
            # The parent directory may be writable by root only. The program that started the
            # service then removes this one.
            with suppress(PermissionError):
                if path.exists() and not any(path.iterdir()):
                    path.rmdir()


def _full(path: Path) -> bool:
    # A link in this place was made by the desktop's user.
    return not path.is_symlink() and path.is_file() and path.stat().st_size > 0


def _own(folder: Path, account: Account, part: DirectoryAccess, flags: int = 0) -> None:
    """Give a directory its owner and its mode."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | flags)
    try:
        if os.geteuid() == 0:
            os.fchown(descriptor, _uid(account, part.owner), _gid(account, part.group))
        # After the owner: fchown(2) may clear the set-group-ID bit.
        os.fchmod(descriptor, part.mode if account.separated else 0o700)
    finally:
        os.close(descriptor)


def _uid(account: Account, owner: Owner) -> int:
    if owner == "root":
        return 0 if account.separated else account.agent.uid
    return _user(account, owner).uid


def _gid(account: Account, owner: Owner) -> int:
    if owner == "root":
        return 0 if account.separated else account.agent.gid
    return _user(account, owner).gid


def _user(account: Account, owner: Owner) -> DesktopUser:
    bus = account.service if account.browser_separated else account.agent
    users = {"agent": account.agent, "browser": account.browser, "bus": bus}
    return users.get(owner, account.service)


def run_root(uid: int, environment: Mapping[str, str]) -> Path:
    """Return the directory of this user's desktops: its path is short, private and on disk.

    ``DESKHAND_RUN_DIR`` names another one, for desktops that are separate from all others.
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


def open_root(root: Path) -> int:
    """Create the directory of all desktops, which others may enter and not list; return it open.

    The descriptor is kept while the directory is used: with its lock no cleaner of temporary files
    removes the directory (tmpfiles.d(5), "Age"), after which any user could make it.

    Raises:
        PermissionError: If another user owns it, or has made a link in its place.
    """
    with suppress(FileExistsError):
        root.mkdir(mode=0o711, parents=True)
    status = root.lstat()
    is_link = stat.S_ISLNK(status.st_mode)
    if is_link and status.st_uid not in (0, os.geteuid()):
        raise PermissionError(f"{root} is a link of another user; remove it")
    # Without a link now, one that replaces it is not followed.
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | (0 if is_link else os.O_NOFOLLOW))
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(f"{root} belongs to another user")
        os.fchmod(descriptor, 0o711)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
