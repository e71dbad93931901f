"""Ray under a user of its own on the host of a control plane, as the units of systemd run it."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import ray

from deskhand.tools.cluster.ray_names import labels_of, resources_of
from tests.cluster.ray_cluster import until
from tests.cluster.ray_head import RayHead, own_address
from tests.system.services import PATIENCE

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="runs programs of other users"),
    pytest.mark.slow("starts a head of Ray"),
]

RAY_ID, PLANE_ID = 2_099_900_001, 2_099_900_002
LIMIT = 6 * PATIENCE
RESERVE = """
import json, sys
from deskhand.tools.cluster.placing.rooms import Rooms
rooms = Rooms(sys.argv[1])
rooms.open()
rooms.reserve("aaaaaaa1", "n1")
print(json.dumps(rooms.reservations()))
"""
STEAL = """
import sys
import ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
@ray.remote(num_cpus=0)
def steal(path):
    import os
    try:
        with open(path) as file:
            return file.read()
    except OSError as error:
        return f"{os.getuid()}: {error.strerror}"
print(ray.get(steal.remote(sys.argv[2]), timeout=60))
"""


def python() -> str:
    """Return an interpreter that all users can execute, with the version of this one."""
    name = f"python3.{sys.version_info.minor}"
    for found in (os.path.realpath(sys.executable), f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        with suppress(OSError, subprocess.CalledProcessError):
            subprocess.run([found, "-c", ""], user=RAY_ID, check=True, cwd="/")
            return found
    pytest.skip("no interpreter of this version that other users can execute")


@dataclass(frozen=True)
class Owned:
    """Ray of one user, used by another one of its group."""

    folder: Path
    program: str
    address: str = ""

    def environment(self, owner: int) -> Mapping[str, str]:
        code = [str(Path(__file__).parents[2]), str(Path(ray.__file__).parents[1])]
        return {
            "HOME": str(self.folder / str(owner)),
            "PATH": "/usr/bin:/bin",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(code),
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.folder / str(owner) / "token"),
        }

    def run(self, owner: int, script: str, *arguments: str) -> str:
        """Return what a script of a user prints last."""
        ended: subprocess.CompletedProcess[str] = subprocess.run(
            [self.program, "-c", script, self.address, *arguments],
            **_of(owner),
            env=self.environment(owner),
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.splitlines()[-1]


def _of(owner: int) -> dict[str, Any]:
    """Return what makes a process that of a user; the plane's has the group of Ray, too."""
    groups = [RAY_ID] if owner == PLANE_ID else []
    return {"user": owner, "group": owner, "extra_groups": groups, "umask": 0o007, "cwd": "/"}


@pytest.fixture(scope="module")
def owned() -> Iterator[Owned]:
    # Sockets below a longer path could not be bound.
    folder = Path(tempfile.mkdtemp(prefix="dh-ray-"))
    folder.chmod(0o711)
    token = secrets.token_hex(32)
    for owner in (RAY_ID, PLANE_ID):
        home = folder / str(owner)
        home.mkdir(mode=0o700)
        (home / "token").touch(mode=0o600)
        (home / "token").write_text(token)
        for path in (home / "token", home):
            os.chown(path, owner, owner)
    (folder / "ray").mkdir(mode=0o711)
    os.chown(folder / "ray", RAY_ID, RAY_ID)
    labels = labels_of("n1", f"{own_address()}:7443")
    found = Owned(folder, python())
    head = RayHead(
        *(own_address(), folder / "ray", folder / "head.log", found.environment(RAY_ID)),
        f"--resources={json.dumps(resources_of('n1', 1))}",
        "--labels=" + ",".join(f"{key}={value}" for key, value in labels.items()),
        program=(found.program, "-m", "ray.scripts.scripts"),
        owner=_of(RAY_ID),
    )
    try:
        head.start()
        sockets = folder / "ray" / "session_latest" / "sockets"
        until(lambda: (sockets / "raylet").exists(), "the head's raylet")
        yield replace(found, address=head.address)
    finally:
        head.kill()
        shutil.rmtree(folder, ignore_errors=True)


def test_a_placer_of_another_user_reserves_places(owned: Owned) -> None:
    assert json.loads(owned.run(PLANE_ID, RESERVE)) == {"aaaaaaa1": "n1"}


def test_a_task_of_ray_reads_nothing_of_the_control_plane(owned: Owned) -> None:
    secret = owned.folder / str(PLANE_ID) / "token"
    answer = owned.run(RAY_ID, STEAL, str(secret))
    assert answer == f"{RAY_ID}: Permission denied"
