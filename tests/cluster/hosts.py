"""Hosts of a cluster on one machine: network namespaces on a bridge, as root.

A host can be cut off by taking its link down, which no signal to a process shows: its connections
do not end, they only stop to answer.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

NUMBERS = 250


@dataclass(frozen=True)
class Host:
    """A network namespace with one address."""

    name: str
    namespace: str
    address: str
    link: str
    """Its interface at the bridge."""

    def command(self, *arguments: str) -> list[str]:
        """Return a command that runs on this host."""
        return ["ip", "netns", "exec", self.namespace, *arguments]

    def set_link(self, state: str) -> None:
        """Take the link ``up`` or ``down``."""
        _ip("link", "set", self.link, state)


@dataclass(frozen=True)
class Network:
    """The bridge; ``address`` is that of the machine itself, on which control planes run."""

    address: str
    hosts: dict[str, Host]


@contextmanager
def network(names: Sequence[str]) -> Iterator[Network]:
    """Make hosts on a bridge of their own until the block ends."""
    with ExitStack() as stack:
        number = _bridge(stack)
        bridge, prefix = f"dhbr{number}", f"10.77.{number}"
        _ip("addr", "add", f"{prefix}.1/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        hosts = {
            name: _host(stack, bridge, f"dh{number}-{name}", name, f"{prefix}.{10 + index}")
            for index, name in enumerate(names)
        }
        yield Network(f"{prefix}.1", hosts)


def _bridge(stack: ExitStack) -> int:
    """Make a bridge; return its number, which no other run of the tests has."""
    first = os.getpid()
    for number in (one % NUMBERS for one in range(first, first + NUMBERS)):
        bridge = f"dhbr{number}"
        try:
            _ip("link", "add", bridge, "type", "bridge")
        except subprocess.CalledProcessError:
            continue
        stack.callback(_ip, "link", "del", bridge)
        return number
    raise AssertionError("there is no number left for a bridge")


def _host(stack: ExitStack, bridge: str, namespace: str, name: str, address: str) -> Host:
    link, inner = f"v{namespace}"[:15], "eth0"
    _made(stack, ("netns", "add", namespace), ("netns", "del", namespace))
    _made(
        stack,
        ("link", "add", link, "type", "veth", "peer", "name", inner, "netns", namespace),
        None,
    )
    _ip("link", "set", link, "master", bridge, "up")
    inside = ("-n", namespace)
    _ip(*inside, "addr", "add", f"{address}/24", "dev", inner)
    _ip(*inside, "link", "set", inner, "up")
    _ip(*inside, "link", "set", "lo", "up")
    _ip(*inside, "route", "add", "default", "via", address.rsplit(".", 1)[0] + ".1")
    return Host(name, namespace, address, link)


def _made(stack: ExitStack, make: tuple[str, ...], remove: tuple[str, ...] | None) -> None:
    _ip(*make)
    if remove is not None:
        stack.callback(_ip, *remove)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, stdin=subprocess.DEVNULL)
