"""An agent reads and paints the windows of another desktop through shared memory."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.attack.attackers import magenta, python, show_magenta
from tests.system.services import Service, service

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root separates desktops"),
]

SPY = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
found = 0
for line in open("/proc/sysvipc/shm").read().splitlines()[1:]:
    key, shmid, perms, size = line.split()[:4]
    at = libc.shmat(int(shmid), None, 0)
    if at in (None, ctypes.c_void_p(-1).value):
        continue
    if ctypes.string_at(at, int(size)).count(bytes([255, 0, 255])) > 10000:
        found += 1
        ctypes.memset(at, 0, int(size))
print("magenta segments:", found)
"""
"""Attaches every segment for reading and writing, counts those with a magenta picture, and blackens
them."""


@contextmanager
def pair(folder: Path, namespaces: str) -> Iterator[tuple[Service, Service]]:
    environment = {"DESKHAND_NAMESPACES": namespaces}
    with ExitStack() as stack:
        yield tuple(  # type: ignore[misc]
            stack.enter_context(service(folder / f"{name}.log", "desktop", environment=environment))
            for name in ("attacker", "victim")
        )


def test_no_segment_of_another_desktop_can_be_attached(tmp_path: Path) -> None:
    with pair(tmp_path, "on") as (attacker, victim):
        show_magenta(victim)
        assert python(attacker, SPY) == "magenta segments: 0"
        assert magenta(victim) > 0.3
        assert victim.get("/api/v0/desktop")["capture"] == "mit-shm"


def test_control_without_namespaces_the_window_can_be_read(tmp_path: Path) -> None:
    with pair(tmp_path, "off") as (attacker, victim):
        show_magenta(victim)
        assert python(attacker, SPY) != "magenta segments: 0"
