"""The heads of Ray that tests start: beside each other, and gone with a run that is killed."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.cluster.ray_head import RayHead, own_address
from tests.live_trees import running
from tests.system.services import PATIENCE, until

pytestmark = [pytest.mark.cluster, pytest.mark.slow("starts heads of Ray")]

STARTER = """
import os, sys
from pathlib import Path
from tests.cluster.ray_head import RayHead, own_address
folder = Path(sys.argv[1])
head = RayHead(own_address(), folder / "ray", folder / "log", os.environ)
head.start()
print(head.address, *(one.pid for one in head.processes()), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    # The paths of Ray's sockets have to be short.
    made = Path(tempfile.mkdtemp(prefix="dhray"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


def test_a_head_is_beside_that_of_another_run_and_ends_with_its_run(folder: Path) -> None:
    token = folder / "token"
    token.write_text("0123456789abcdef" * 2)
    token.chmod(0o600)
    environment = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
    }
    command = [sys.executable, "-c", STARTER, str(folder)]
    head = RayHead(own_address(), folder / "own", folder / "own.log", environment)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as other:
        try:
            assert other.stdout is not None
            address, *pids = other.stdout.readline().split()
            assert pids
            head.start()
            assert head.address != address
        finally:
            other.kill()
            own = {one.pid for one in head.processes()}
            head.kill()
    assert own
    left = set[psutil.Process]()
    for pid in map(int, pids):
        with suppress(psutil.NoSuchProcess):
            left.add(psutil.Process(pid))
    until(lambda: not _alive(left), "the end of the other head", PATIENCE)
    assert head.processes() == []


def _alive(processes: set[psutil.Process]) -> list[psutil.Process]:
    states = running(processes, psutil.Process.status)
    return [one for one, state in states.items() if state != psutil.STATUS_ZOMBIE]
