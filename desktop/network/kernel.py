"""Network namespaces, their interfaces and bind mounts: system calls that Python 3.11 lacks.

Namespaces are entered by the calling thread alone (setns(2)).
"""

import ctypes
import fcntl
import os
import shutil
import socket
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address
from pathlib import Path

from .nflog import subscription

CLONE_NEWNS = 0x00020000
CLONE_NEWNET = 0x40000000
"""Of <linux/sched.h>."""

_MS_NOSUID, _MS_NODEV = 1 << 1, 1 << 2
_MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_SIOCADDRT = 0x890B
_SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C
_IFF_UP, _RTF_UP = 1, 1
_NETLINK_NETFILTER = 12
_LOOPBACK = b"lo"
_ANY_ADDRESS = struct.pack("=HH4s8x", socket.AF_INET, 0, bytes(4))

_libc = ctypes.CDLL(None, use_errno=True)


def own_namespace() -> int:
    """Return a descriptor of the calling thread's network namespace."""
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def new_namespace() -> None:
    """Move the calling thread into a new network namespace, with the loopback interface up."""
    _checked(_libc.unshare(CLONE_NEWNET))
    with _control() as control:
        flags = struct.pack("16sH22x", _LOOPBACK, _IFF_UP)
        fcntl.ioctl(control, _SIOCSIFFLAGS, flags)


def enter_namespace(descriptor: int) -> None:
    """Move the calling thread into a network namespace."""
    _checked(_libc.setns(descriptor, CLONE_NEWNET))


@contextmanager
def inside(descriptor: int) -> Iterator[None]:
    """Work in a network namespace while the block runs."""
    before = own_namespace()
    try:
        enter_namespace(descriptor)
        try:
            yield
        finally:
            enter_namespace(before)
    finally:
        os.close(before)


def add_loopback_address(address: str, number: int) -> None:
    """Add an IPv4 address to the loopback interface, as its alias of this number."""
    alias = b"lo:%d" % number
    with _control() as control:
        for request, value in ((_SIOCSIFADDR, address), (_SIOCSIFNETMASK, "255.255.255.255")):
            packed = struct.pack("=HH4s8x", socket.AF_INET, 0, IPv4Address(value).packed)
            fcntl.ioctl(control, request, struct.pack("16s16s8x", alias, packed))


def route_all_to_loopback() -> None:
    """Add a default route that leads nowhere, so that rules see and refuse each packet."""
    name = ctypes.create_string_buffer(_LOOPBACK)
    # struct rtentry of <linux/route.h>
    entry = struct.pack(
        "@L16s16s16sHhLPhPLLH",
        *(0, _ANY_ADDRESS, _ANY_ADDRESS, _ANY_ADDRESS, _RTF_UP, 0, 0, 0, 0),
        *(ctypes.addressof(name), 0, 0, 0),
    )
    with _control() as control:
        fcntl.ioctl(control, _SIOCADDRT, entry)


def refused_packets(group: int) -> socket.socket:
    """Return a non-blocking socket of the packets that this thread's namespace logs.

    Reading it needs no privileges.
    """
    found = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER)
    try:
        found.bind((0, 0))
        found.send(subscription(group))
        found.setblocking(False)
    except OSError:
        found.close()
        raise
    return found


def own_mounts() -> None:
    """Give the calling thread a mount namespace of its own, whose mounts the host does not see."""
    _checked(_libc.unshare(CLONE_NEWNS))
    _checked(_libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None))


def show(text: str, target: Path) -> None:
    """Show a text, which only root can change, in the place of a file that exists."""
    with tempfile.NamedTemporaryFile("w") as source:
        source.write(text)
        source.flush()
        os.fchmod(source.fileno(), 0o444)
        # The mount keeps the file when its name is removed.
        _checked(_libc.mount(os.fsencode(source.name), os.fsencode(target), None, _MS_BIND, None))


def show_file_in(folder: Path, name: str, text: str) -> None:
    """Show a folder with a file more, of which the host sees nothing."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        file = Path(copy, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        # The umask may close new files and folders to others.
        file.chmod(0o644)
        for parent in file.relative_to(copy).parents:
            Path(copy, parent).chmod(0o755)
        target = os.fsencode(folder)
        _checked(_libc.mount(b"tmpfs", target, b"tmpfs", _MS_NOSUID | _MS_NODEV, b"mode=755"))
        shutil.copytree(copy, folder, dirs_exist_ok=True)
    folder.chmod(0o755)


@contextmanager
def _control() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        yield control


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
