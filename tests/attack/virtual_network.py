"""A host and an outside, each a network namespace, so that no test changes the machine's network.

The host has the address 198.51.100.1 and routes to the outside: to a public address, a private one
and those of clouds' metadata. Its resolver has a private address.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.attack.outside import ADDRESS, RESOLVER
from tests.system.services import until

METADATA = "169.254.169.254"
AZURE = "168.63.129.16"
"""Where the host of an Azure virtual machine serves it; a public address by its range."""
PRIVATE = "10.77.0.1"
HOST = "198.51.100.1"
LINK = "198.51.100.2"

Json = dict[str, Any]


@dataclass(frozen=True)
class VirtualNetwork:
    """A host whose network is separate from the machine's."""

    pid: int
    """A process in the namespaces of the host."""
    log: Path

    def on_host(self, *command: str) -> list[str]:
        """Return the command line that runs a command on the host."""
        return ["nsenter", f"--target={self.pid}", "--net", "--mount", "--", *command]

    def arrived(self, kind: str, **fields: object) -> list[Json]:
        """Return what has arrived outside."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        found = [json.loads(line) for line in lines]
        wanted = {"kind": kind, **fields}.items()
        return [one for one in found if wanted <= {**one, "body": None}.items()]

    def until_arrived(self, kind: str, **fields: object) -> Json:
        """Return the first of what arrives outside."""
        found: Json = until(lambda: self.arrived(kind, **fields), f"{kind} {fields}")[0]
        return found


@contextmanager
def virtual_network(folder: Path) -> Iterator[VirtualNetwork]:
    """Make both namespaces, and end them with all that runs in them."""
    resolver, log = folder / "resolv.conf", folder / "outside.jsonl"
    resolver.write_text(f"nameserver {RESOLVER}\n")
    outside_program = str(Path(__file__).with_name("outside.py"))
    with ExitStack() as stack:
        script = f"mount --bind {resolver} /etc/resolv.conf && echo ready && cat"
        host = _holder(stack, "--net", "--mount", "sh", "-c", script)
        outside = _holder(stack, "--net", sys.executable, "-S", "-E", outside_program, str(log))
        for command in _links(host.pid, outside.pid):
            subprocess.run(command.split(), check=True)
        _send(outside, "go")
        assert _answer(outside) == "listening"
        yield VirtualNetwork(host.pid, log)


def _holder(stack: ExitStack, *command: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        ["unshare", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    stack.callback(process.wait)
    for pipe in (process.stdout, process.stdin):
        assert pipe is not None
        # Without input each of them ends.
        stack.callback(pipe.close)
    assert _answer(process) == "ready"
    return process


def _send(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{word}\n")
    process.stdin.flush()


def _answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _links(host: int, outside: int) -> Iterator[str]:
    on_host, beyond = (f"nsenter --target={pid} --net ip" for pid in (host, outside))
    yield f"{on_host} link add veth-h type veth peer name veth-o netns {outside}"
    for inside, device, address in ((on_host, "veth-h", HOST), (beyond, "veth-o", LINK)):
        yield f"{inside} link set lo up"
        yield f"{inside} addr add {address}/30 dev {device}"
        yield f"{inside} link set {device} up"
    for address in (ADDRESS, METADATA, AZURE, PRIVATE, RESOLVER):
        yield f"{beyond} addr add {address}/32 dev lo"
        yield f"{on_host} route add {address}/32 via {LINK}"
    yield f"{beyond} route add default via {HOST}"
