"""An agent reads and paints the windows of another desktop through shared memory."""

import os
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.attack.attackers import magenta, python, show_magenta
from tests.system.services import Service, service, until

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


HELD = """
import ctypes, time
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
picture = bytes([255, 0, 255]) * 20000
held = libc.shmget(0, ctypes.c_size_t(len(picture)), 0o1666)
at = libc.shmat(held, None, 0)
libc.shmctl(held, 0, None)
ctypes.memmove(ctypes.c_void_p(at), picture, len(picture))
print("held", flush=True)
time.sleep(600)
"""
"""Holds a segment with a magenta picture, which ends with the process."""


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


def test_control_without_namespaces_a_segment_can_be_read(tmp_path: Path) -> None:
    with pair(tmp_path, "off") as (attacker, victim):
        # Clients of the filter have no MIT-SHM: a program's own segment, for all users.
        held = f"exec /usr/bin/python3 -c {shlex.quote(HELD)}"
        started = victim.post("/api/v0/processes/start", {"command": held, "background": True})
        path = f"/api/v0/processes/{started['id']}/output"
        until(lambda: "held" in victim.http.get(path).json()["output"], "the segment")
        assert python(attacker, SPY) == "magenta segments: 1"
