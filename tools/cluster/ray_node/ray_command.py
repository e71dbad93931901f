"""The command that starts Ray's processes on a node. Pure."""

import ipaddress
import json
from collections.abc import Iterator
from dataclasses import dataclass

from deskhand.tools.cluster.ray_names import labels_of, resources_of

OBJECT_STORE_BYTES = 80_000_000
"""Nothing of ours is stored there; without a number, Ray takes 30 % of the memory."""
WORKER_PORTS = 30


@dataclass(frozen=True)
class RayPlace:
    """A node of ours, as Ray knows it."""

    cluster: str
    """``HOST:PORT`` of Ray's head."""
    name: str
    places: int
    host: str
    port: int
    """Of the gate."""
    first_port: int = 0
    """Of the ports that Ray's processes use; 0 for any."""


def ray_command(program: str, place: RayPlace) -> list[str]:
    """Return the command."""
    resources = resources_of(place.name, place.places)
    host = f"[{place.host}]" if ":" in place.host else place.host
    found = labels_of(place.name, f"{host}:{place.port}")
    labels = ",".join(f"{name}={value}" for name, value in found.items())
    return [
        *(program, "start", "--block", f"--address={place.cluster}"),
        *(f"--resources={json.dumps(resources)}", f"--labels={labels}"),
        *("--num-cpus=0", "--num-gpus=0", f"--object-store-memory={OBJECT_STORE_BYTES}"),
        *("--include-log-monitor=false", "--disable-usage-stats"),
        *_address(place.host),
        *_ports(place.first_port),
    ]


def _address(host: str) -> Iterator[str]:
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return
    # Ray replaces a loopback address by another one, and then waits for itself.
    if not found.is_loopback:
        yield f"--node-ip-address={host}"


def _ports(first: int) -> Iterator[str]:
    if not first:
        return
    names = (
        *("node-manager-port", "object-manager-port", "dashboard-agent-listen-port"),
        *("dashboard-agent-grpc-port", "runtime-env-agent-port", "metrics-export-port"),
    )
    for number, name in enumerate(names):
        yield f"--{name}={first + number}"
    yield f"--min-worker-port={first + 10}"
    yield f"--max-worker-port={first + 9 + WORKER_PORTS}"
