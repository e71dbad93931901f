"""Ray's processes of a real node, beside a real head of Ray."""

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import pytest

from deskhand.desktop.isolation.process_identity import start_time
from deskhand.tools.cluster.ray_names import node_and_gate
from tests.cluster.nodes import Node, node
from tests.cluster.ray_head import RAY, RayHead, own_address
from tests.live_trees import names_below, running
from tests.system.services import PATIENCE, until
from tests.tools.cluster.certified import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.x11]

LIMIT = 6 * PATIENCE
A = secrets.token_hex(4)
NODES = """
import json, sys
import ray
from ray.util.placement_group import placement_group, remove_placement_group
ray.init(address=sys.argv[1], namespace="deskhand", log_to_driver=False, logging_level="ERROR")
found = [one for one in ray.nodes() if one["Alive"] and "desk" in one["Resources"]]
if found:
    room = placement_group([{"desk": 1, "desk_n7": 1}], name="aaaaaaa2", lifetime="detached")
    assert room.wait(30)
    remove_placement_group(room)
with open(sys.argv[2], "w") as out:
    json.dump([[one["Resources"], one["Labels"]] for one in found], out)
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path / "authority")


@contextmanager
def head(environment: Mapping[str, str]) -> Iterator[str]:
    """Run a head of Ray; yield its address."""
    # Sockets below a longer path could not be bound.
    with TemporaryDirectory(prefix="dh-ray-", ignore_cleanup_errors=True) as folder:
        made = RayHead(own_address(), Path(folder), Path(folder) / "head.log", environment)
        try:
            made.start()
            yield made.address
        finally:
            made.kill()


def nodes_of_ray(address: str, environment: Mapping[str, str], file: Path) -> list[list[Any]]:
    """Return resources and labels of the nodes that have places; none while there is no head."""
    file.unlink(missing_ok=True)
    subprocess.run(
        [sys.executable, "-c", NODES, address, str(file)],
        env=environment,
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    found: list[list[Any]] = json.loads(file.read_text()) if file.exists() else []
    return found


def raylets(found: Node) -> list[psutil.Process]:
    """Return the raylets; a child of one has its name until it executes its own program."""
    names = names_below(found.process.pid)
    named = [process for process, name in names.items() if name == "raylet"]
    parents = running(named, psutil.Process.ppid)
    pids = {process.pid for process in named}
    return [process for process, parent in parents.items() if parent not in pids]


@pytest.mark.slow("starts a head of Ray, a node and a desktop")
@pytest.mark.skipif(not Path(RAY).exists(), reason="the package ray is not installed")
def test_ray_reserves_the_places_of_a_node_and_ends_without_its_desktops(
    cluster: Cluster, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.touch(mode=0o600)
    token.write_text(secrets.token_hex(32))
    ours = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
    environment = {**os.environ, **ours}
    with head(environment) as address:
        given = ("--cluster", address, "--places", "3")
        pinned = {**ours, "DESKHAND_RAY_PORT": "0"}
        with node(tmp_path, cluster, *given, environment=pinned) as found:
            answer = tmp_path / "nodes.json"
            ((resources, labels),) = until(
                lambda: nodes_of_ray(address, environment, answer), "a node of Ray", LIMIT
            )
            assert (resources["desk"], resources["desk_n7"]) == (3, 3)
            assert node_and_gate(labels) == ("n7", f"127.0.0.1:{found.port}")
            pid = int(found.start(A)["pid"])
            (first,) = raylets(found)
            first.send_signal(signal.SIGKILL)
            (second,) = until(
                lambda: [one for one in raylets(found) if one.pid != first.pid],
                "another raylet",
                LIMIT,
            )
            assert found.desktops() == [A]
            found.kill()
            until(lambda: start_time(second.pid) is None, "the end of Ray", LIMIT)
            assert start_time(pid) is not None
        with node(tmp_path, cluster) as without:
            assert without.desktops() == [A]
