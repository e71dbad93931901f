"""Namespaces of one desktop: PID, IPC and mount (namespaces(7)), by the system calls themselves.

The system calls of the mount API (open_tree(2), move_mount(2), mount_setattr(2)) have no wrappers
in the C library of Debian 12. Their numbers are the same on all architectures.
"""

import ctypes
import os
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path

from .mount_plan import (
    GROUP_WRITABLE_STICKY,
    WORLD_WRITABLE_STICKY,
    X_SOCKETS,
    Mount,
    NotExecutable,
)

CLONE_NEWNS = 0x0002_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWPID = 0x2000_0000
"""Of <linux/sched.h>."""

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_REC, MS_PRIVATE = 0x4000, 0x4_0000
"""Of <linux/mount.h>, mount(2)."""

_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_AT_FDCWD, _AT_RECURSIVE, _OPEN_TREE_CLONE, _MOVE_MOUNT_F_EMPTY_PATH = -100, 0x8000, 1, 4
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOEXEC = 1, 8

PR_SET_PDEATHSIG = 1


class _MountAttributes(ctypes.Structure):
    """``struct mount_attr`` of mount_setattr(2)."""

    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


_libc = ctypes.CDLL(None, use_errno=True)


def separate_children() -> int:
    """Give later children a PID namespace of their own; return a descriptor for `rejoin`.

    Raises:
        OSError: If the kernel refuses.
    """
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _checked("unshare", _libc.unshare(CLONE_NEWPID))
    except BaseException:
        os.close(own)
        raise
    return own


def copy_mounts() -> None:
    """Enter a new mount namespace, which has the mounts of now and gets no later ones of this one.

    Raises:
        OSError: If the kernel refuses.
    """
    _checked("unshare", _libc.unshare(CLONE_NEWNS))
    _mount("none", "/", "", MS_REC | MS_PRIVATE)


def rejoin(own: int) -> None:
    """Give later children the PID namespace of this process again; close the descriptor."""
    try:
        _checked("setns", _libc.setns(own, CLONE_NEWPID))
    finally:
        os.close(own)


def separate() -> None:
    """Enter new IPC and mount namespaces, with the ``/proc`` of this process's PID namespace.

    Raises:
        OSError: If the kernel refuses.
    """
    _checked("unshare", _libc.unshare(CLONE_NEWIPC | CLONE_NEWNS))
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)


def enter(namespace: int) -> None:
    """Enter the namespace of this descriptor.

    Raises:
        OSError: If the kernel refuses.
    """
    _checked("setns", _libc.setns(namespace, 0))


def perform(plan: Iterable[Mount], *, x_group: int = 0) -> None:
    """Mount what a desktop sees; everything else of the machine becomes read-only.

    A place that does not exist is left out. ``x_group`` may make sockets of X servers; 0 for all.

    Raises:
        OSError: If the kernel refuses.
    """
    plan = tuple(plan)
    with ExitStack() as opened:
        # The trees are taken before anything covers them, with their own flags.
        trees = {
            one.path: mount_copy(one.source or one.path) for one in plan if one.kind != "empty"
        }
        for tree in trees.values():
            if tree >= 0:
                opened.callback(os.close, tree)
        _read_only("/", recursive=True)
        _writable("/proc")
        # A new terminal is given to the user of the program that gets it.
        with suppress(OSError):
            _writable("/dev/pts")
        # For the directories that are made on the way to a mount point: mode 0711.
        opened.callback(os.umask, os.umask(0o066))
        for one in plan:
            if one.kind == "empty":
                _mount_empty(one)
            elif trees[one.path] >= 0:
                if one.kind == "shown":
                    Path(one.path).mkdir(parents=True, exist_ok=True)
                _move(trees[one.path], one.path)
        for one in plan:
            if one.sealed:
                with suppress(FileNotFoundError):
                    _read_only(one.path)
    sockets = Path(X_SOCKETS)
    sockets.mkdir()
    # Another user could take the place of an X server that restarts.
    os.chown(sockets, 0, x_group)
    sockets.chmod(GROUP_WRITABLE_STICKY if x_group else WORLD_WRITABLE_STICKY)


def forbid_execution(places: NotExecutable) -> None:
    """Forbid this process and its descendants to map files of these places as code (mount(2)).

    Raises:
        OSError: If the kernel refuses.
    """
    copy_mounts()
    for path in places.mounted:
        with suppress(FileNotFoundError):
            _set(path, _MountAttributes(attr_set=_MOUNT_ATTR_NOEXEC), recursive=False)
    for path in places.folders:
        tree = mount_copy(path)
        if tree >= 0:
            try:
                _move(tree, path)
            finally:
                os.close(tree)
            _set(path, _MountAttributes(attr_set=_MOUNT_ATTR_NOEXEC), recursive=True)


def end_with_parent(number: int) -> None:
    """Have the kernel send a signal to this process when the thread that forked it ends."""
    _libc.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)


def _mount_empty(one: Mount) -> None:
    options = f"mode={one.mode:o},size={one.bytes},gid={one.group}"
    with suppress(FileNotFoundError):
        _mount("tmpfs", one.path, "tmpfs", MS_NOSUID | MS_NODEV, options)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    arguments = (source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags))
    _checked(f"mount {target}", _libc.mount(*arguments, options.encode() or None))


def mount_copy(path: str) -> int:
    """Return a descriptor of a copy of the mounts at a path, or -1 if it does not exist.

    No ``..`` leads out of it. Raises ``OSError`` if the kernel refuses.
    """
    flags = _OPEN_TREE_CLONE | _AT_RECURSIVE | os.O_CLOEXEC
    try:
        return _system(_OPEN_TREE, _AT_FDCWD, path.encode(), flags, what=f"open_tree {path}")
    except FileNotFoundError:
        return -1


def _move(tree: int, path: str) -> None:
    target = (_AT_FDCWD, path.encode(), _MOVE_MOUNT_F_EMPTY_PATH)
    _system(_MOVE_MOUNT, tree, b"", *target, what=f"move_mount {path}")


def _read_only(path: str, *, recursive: bool = False) -> None:
    _set(path, _MountAttributes(attr_set=_MOUNT_ATTR_RDONLY), recursive=recursive)


def _writable(path: str) -> None:
    _set(path, _MountAttributes(attr_clr=_MOUNT_ATTR_RDONLY), recursive=False)


def _set(path: str, attributes: _MountAttributes, *, recursive: bool) -> None:
    flags = _AT_RECURSIVE if recursive else 0
    target = (_AT_FDCWD, path.encode(), flags, ctypes.byref(attributes))
    size = ctypes.sizeof(attributes)
    _system(_MOUNT_SETATTR, *target, size, what=f"mount_setattr {path}")


def _system(number: int, *arguments: object, what: str) -> int:
    # Integers are passed as long: syscall(2) is variadic, and would leave half of a register unset.
    converted = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return _checked(what, int(_libc.syscall(ctypes.c_long(number), *converted)))


def _checked(what: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
