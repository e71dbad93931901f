"""Namespaces, limits and rights of a worker: the adapter of the system calls that Python lacks.

A worker has empty namespaces (network, IPC, mounts, processes), no capability, a user of its own
if the decoder is root, and limits of memory, CPU time and files. Where the kernel refuses
namespaces, the limits and the user remain.
"""

import ctypes
import os
import resource
import signal
from contextlib import suppress
from pathlib import Path

from .messages import MIB, WorkerLimits

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND = 2, 4, 8, 4096
MS_REC, MS_PRIVATE = 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 1, 4, 38, 24
CAPABILITY_VERSION = 0x20080522
LAST_CAPABILITY = 63
SYS_OPEN_TREE, AT_FDCWD, OPEN_TREE_CLONE = 428, -100, 1
"""Of open_tree(2), which has no wrapper in the C library of Debian 12."""
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

WORKER_UID = 64_990
"""User of the workers of root; no other program has it (Debian Policy section 9.2.2)."""
MOST_PROCESSES = 32
"""Threads and processes of the workers' user."""
MOST_DESCRIPTORS = 32
PLACE = "/proc"
"""Folder on which the worker mounts its root; every system has it."""
FOLDER = "work"

ROOM = 30 * MIB
"""Bytes that decoding a picture of a 1920x1080 video takes."""
MADV_HUGEPAGE, HUGE_PAGE = 14, 2 * MIB
HEAP = ((-1, 1 << 30), (-3, 32 * MIB), (-8, 1))
"""M_TRIM_THRESHOLD, M_MMAP_THRESHOLD and M_ARENA_MAX of mallopt(3)."""

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> int:
    result: int = getattr(_libc, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Leave the shared namespaces of ``flags`` for new ones; raise ``OSError`` if refused."""
    _call("unshare", flags)


def enter(namespace: int, flag: int) -> None:
    """Enter the namespace of a descriptor."""
    _call("setns", namespace, flag)


def end_with_parent() -> None:
    """Get SIGKILL when the thread that forked this process ends."""
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def map_own_user(uid: int, gid: int) -> None:
    """Keep the user's numbers in a user namespace that was just entered."""
    # In a process that has given up root, these files belong to root meanwhile (proc(5)).
    _call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    finally:
        _call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


def empty_root(folder: str) -> None:
    """Replace the root by an empty one that contains ``folder`` alone, the current directory.

    Raises:
        OSError: If the kernel refuses a namespace of mounts.
    """
    unshare(NEWNS)
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    if folder:
        os.chdir(folder)
    _mount("tmpfs", PLACE, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=64k,mode=755")
    target = f"{PLACE}/{FOLDER}"
    os.mkdir(target)  # noqa: PTH102 - no module may be loaded any more
    if folder:
        _mount(".", target, None, MS_BIND)
    os.chdir(PLACE)
    # The new root covers the old one at the same place, which is then unmounted (pivot_root(2)).
    _call("syscall", SYS_PIVOT_ROOT.get(os.uname().machine, -1), b".", b".")
    _call("umount2", b".", MNT_DETACH)
    os.chdir(f"/{FOLDER}")


def opened_alone(folder: str, *, clone: bool) -> int:
    """Return a descriptor of a folder from which nothing above it can be reached.

    Without ``clone`` that is not so; a worker without namespaces sees all of the machine anyway.

    Raises:
        OSError: If the kernel refuses.
    """
    if not clone:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    flags = ctypes.c_long(OPEN_TREE_CLONE | os.O_CLOEXEC)
    path = ctypes.c_char_p(os.fsencode(folder))
    return _call("syscall", ctypes.c_long(SYS_OPEN_TREE), ctypes.c_long(AT_FDCWD), path, flags)


def make_room() -> None:
    """Let the heap keep what is freed, with room for the frames of a video."""
    for option, value in HEAP:
        _libc.mallopt(option, value)
    _libc.malloc.restype = ctypes.c_void_p
    room = ctypes.c_void_p(_libc.malloc(ROOM))
    if room.value:
        begin = -(-room.value // HUGE_PAGE) * HUGE_PAGE
        # Where the kernel refuses, ordinary pages are mapped one by one.
        _libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(ROOM), MADV_HUGEPAGE)
        # Writing is what maps the pages.
        ctypes.memset(room, 1, ROOM)
    _libc.free(room)


def used_memory() -> int:
    """Return the bytes of address space that this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    # If memory runs out, the kernel ends this process first.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    return pages * resource.getpagesize()


def limit(limits: WorkerLimits, used: int, *, processes: bool) -> None:
    """Set the limits of the calling process, which has ``used`` bytes of memory already.

    Without ``processes`` its user has other processes, which would count too.
    """
    for kind, value in (
        (resource.RLIMIT_AS, used + limits.memory),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_FSIZE, limits.file),
        *(((resource.RLIMIT_NPROC, MOST_PROCESSES),) if processes else ()),
        (resource.RLIMIT_NOFILE, MOST_DESCRIPTORS),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def drop_rights(uid: int | None) -> None:
    """Give up all capabilities for good, and become ``uid`` unless that is None."""
    for capability in range(LAST_CAPABILITY + 1):
        # Numbers beyond the kernel's last capability are refused, and without the right to set
        # capabilities nothing has to be dropped.
        with suppress(OSError):
            _call("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    none = (ctypes.c_uint32 * 6)()
    _call("capset", header, none)
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # A new user resets it (prctl(2)).
    end_with_parent()


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    _call(
        "mount", source.encode(), target.encode(), kind and kind.encode(), ctypes.c_ulong(flags),
        data.encode(),
    )  # fmt: skip
