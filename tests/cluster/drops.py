"""Packets of this machine that are lost on their way to a gate, as on a network that fails."""

import re
import subprocess
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import psutil

Place = tuple[str, int]


class Drop:
    """Rules of the packet filter; `only_from` and `nothing` replace them."""

    def __init__(self, place: Place) -> None:
        host, port = place
        self._to = f"ip daddr {host} tcp dport {port}"
        self._table = f"inet deskhand_drop_{host.replace('.', '_')}"

    def all(self) -> None:
        """Lose all packets to the gate."""
        self._rule("")

    def only_from(self, ports: Collection[int]) -> None:
        """Lose those of these connections of ours alone."""
        self._rule(f"tcp sport {{ {', '.join(map(str, ports))} }}")

    def nothing(self) -> None:
        """Lose no packets any more."""
        self._run(f"table {self._table} {{}}\ndelete table {self._table}\n")

    def _rule(self, more: str) -> None:
        chain = f"type filter hook output priority 0;\n{self._to} {more} drop"
        self.nothing()
        self._run(f"table {self._table} {{\nchain out {{\n{chain}\n}}\n}}\n")

    def _run(self, rules: str) -> None:
        subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True)


@contextmanager
def dropped(place: Place) -> Iterator[Drop]:
    """Lose all packets to a gate until the block ends, or the rule is replaced."""
    drop = Drop(place)
    drop.all()
    try:
        yield drop
    finally:
        drop.nothing()


def ports_to(pid: int, place: Place) -> list[int]:
    """Return our ports of a process's connections to a gate."""
    found = psutil.Process(pid).net_connections("tcp")
    return [one.laddr.port for one in found if one.raddr and tuple(one.raddr) == place]


def waits_to_be_sent(pid: int, place: Place) -> bool:
    """Return whether something that a process has sent to a gate is not acknowledged yet."""
    host, port = place
    listed = subprocess.run(
        ["ss", "-Hatn", "dst", f"{host}:{port}"], capture_output=True, text=True, check=True
    )
    ports = ports_to(pid, place)
    for line in listed.stdout.splitlines():
        found = re.match(r"\S+ +\d+ +(\d+) +\S+:(\d+) ", line)
        if found and int(found[1]) and int(found[2]) in ports:
            return True
    return False
