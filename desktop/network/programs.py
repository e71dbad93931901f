"""Programs of the system that enforce an egress, and the packages that contain them."""

import shutil
from collections.abc import Callable
from pathlib import Path

from deskhand.desktop.isolation.environment import SYSTEM_PATH

from .egress import Mode

TUN = Path("/dev/net/tun")

PACKAGES = {"slirp4netns": "slirp4netns", "nft": "nftables", "tinyproxy": "tinyproxy-bin"}
"""Debian package by program."""

_NEEDED: dict[Mode, tuple[str, ...]] = {
    "open": (),
    "internet": ("slirp4netns", "nft"),
    "list": ("slirp4netns", "nft", "tinyproxy"),
    "none": (),
}


def find_program(name: str) -> str | None:
    """Return the path of a program of the system, or None."""
    return shutil.which(name, path=SYSTEM_PATH)


def missing(mode: Mode, find: Callable[[str], str | None] = find_program, tun: Path = TUN) -> str:
    """Return what this machine lacks for a mode, with the packages to install; empty if nothing."""
    absent = [name for name in _NEEDED[mode] if find(name) is None]
    if absent:
        packages = " ".join(PACKAGES[name] for name in absent)
        verb = "is" if len(absent) == 1 else "are"
        return f"{' and '.join(absent)} {verb} not installed (apt-get install {packages})"
    if _NEEDED[mode] and not tun.exists():
        return f"{tun} does not exist"
    return ""
