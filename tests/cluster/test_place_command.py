"""`deskhand place` with a real Ray, PostgreSQL, and gates that are real servers."""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import Store
from deskhand.tools.store.rows import desktops, nodes
from deskhand.tools.store.tables.desktops import DesktopRow
from tests.cluster.gates import FakeGate, gates
from tests.cluster.playing import LIMIT
from tests.cluster.ray_cluster import RayCluster, ray_cluster
from tests.system.services import DESKHAND
from tests.tools.cluster.certified import N7, PLANE, Cluster

pytestmark = pytest.mark.cluster


class PlaceCommand:
    """Processes of `deskhand place`, one after the other."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        self._environment = environment

    async def start(self) -> asyncio.subprocess.Process:
        with (self._folder / "place.log").open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *(DESKHAND, "place"),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env=self._environment,
            )

    @property
    def log(self) -> str:
        return (self._folder / "place.log").read_text()


async def until(store: Store, desktop_id: str, check: Callable[[DesktopRow], bool]) -> DesktopRow:
    while True:
        row = await store.read(lambda s: desktops.get(s, desktop_id))
        if row is not None and check(row):
            return row
        await asyncio.sleep(0.1)


async def state(store: Store, desktop_id: str, wanted: str) -> DesktopRow:
    return await until(store, desktop_id, lambda row: row.state == wanted)


async def order(store: Store, desktop_id: str) -> None:
    wanted = {"id": desktop_id}
    await store.write(lambda s: desktops.order(s, desktop_id, None, wanted, 1.0))


def played(
    url: str,
    folder: Path,
    scenario: Callable[[Store, RayCluster, FakeGate, PlaceCommand], Awaitable[None]],
) -> None:
    cluster = Cluster(folder)
    gate = FakeGate(N7.name, cluster.n7, version=version("deskhand"))

    async def main(ray: RayCluster) -> None:
        environment = {
            **ray.environment,
            "DESKHAND_DATABASE": url,
            "DESKHAND_CERTIFICATES": str(folder / PLANE.name),
            "DESKHAND_CLUSTER": ray.address,
            "DESKHAND_LOG_LEVEL": "info",
        }
        async with asyncio.timeout(3 * LIMIT), await Store.open(url) as store, gates(gate):
            ray.start_node(N7.name, gate=gate.address)
            await scenario(store, ray, gate, PlaceCommand(folder, environment))

    with ray_cluster() as ray:
        asyncio.run(main(ray))


@pytest.mark.slow("a head of Ray is killed and comes back")
def test_desktops_survive_the_head_of_ray_and_starts_wait_for_it(
    database: str, tmp_path: Path
) -> None:
    async def scenario(
        store: Store, ray: RayCluster, gate: FakeGate, command: PlaceCommand
    ) -> None:
        first = await command.start()
        await order(store, "d1")
        await state(store, "d1", desktops.READY)
        ray.head.kill()
        await order(store, "d2")
        gone = f"Ray does not answer at {ray.address}"
        await until(store, "d2", lambda row: row.reason == gone)
        # Ray would end it after a minute; it ends by itself before, to be started again.
        assert await first.wait() == 75, command.log
        second = await command.start()
        await store.write(lambda s: desktops.move(s, "d1", (desktops.READY,), desktops.READY))
        ray.kill(N7.name)
        ray.head.start()
        ray.start_node(N7.name, gate=gate.address)
        await state(store, "d2", desktops.READY)
        row = await state(store, "d1", desktops.READY)
        assert (row.generation, gate.started, gate.ended) == (1, {"d1": 1, "d2": 1}, [])
        assert second.stdin is not None
        second.stdin.close()
        assert await second.wait() == 0, command.log

    played(database, tmp_path, scenario)


@pytest.mark.slow("the lock of a process that was stopped ends after some seconds")
def test_a_placer_that_was_stopped_is_replaced(database: str, tmp_path: Path) -> None:
    async def scenario(
        store: Store, ray: RayCluster, gate: FakeGate, command: PlaceCommand
    ) -> None:
        first = await command.start()
        await order(store, "d1")
        await state(store, "d1", desktops.READY)
        second = await command.start()
        first.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        try:
            await order(store, "d2")
            await state(store, "d2", desktops.READY)
            print("replaced after", round(time.monotonic() - began, 1))
        finally:
            first.send_signal(signal.SIGCONT)
        # It notices that it leads no more, and does nothing a second time.
        while "leads no more" not in command.log:  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.1)
        await order(store, "d3")
        await state(store, "d3", desktops.READY)
        assert (gate.started, gate.ended) == ({"d1": 1, "d2": 1, "d3": 1}, [])
        for process in (first, second):
            assert process.stdin is not None
            process.stdin.close()
            assert await process.wait() == 0, command.log

    played(database, tmp_path, scenario)


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {key: value for key, value in os.environ.items() if key != "RAY_AUTH_MODE"}
    return subprocess.run(
        [DESKHAND, "place"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        env={**inherited, **environment},
        timeout=LIMIT,
    )


@pytest.mark.slow("three commands")
def test_what_is_missing_is_named(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    ended = run(tmp_path)
    assert (ended.returncode, ended.stderr) == (
        4,
        "deskhand: database: it is needed to place desktops on nodes, see docs/cluster.md\n",
    )
    needed = {"DESKHAND_DATABASE": "postgresql://h/d", "DESKHAND_CLUSTER": "127.0.0.1:9"}
    plane = str(cluster.folder / PLANE.name)
    ended = run(tmp_path, **needed, DESKHAND_CERTIFICATES=plane)
    assert ended.returncode == 4
    assert ended.stderr == ("deskhand: Ray is used with a token only; set RAY_AUTH_MODE=token\n")
    ended = run(tmp_path, **needed, DESKHAND_CERTIFICATES=str(cluster.folder / N7.name))
    assert "is not of a control plane" in ended.stderr


@pytest.mark.slow("three commands")
def test_doctor_names_what_is_wrong_with_the_cluster(database: str, tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    token = tmp_path / "token"
    token.write_text("secret")

    async def prepare() -> None:
        async with await Store.open(database) as store:
            for name, reason in (("n7", ""), ("n8", "no X server")):
                columns = {"address": "h:1", "version": "1.0", "places": 80, "reason": reason}
                await store.write(partial(_seen, name=name, columns=columns))

    def findings() -> dict[str, tuple[str, str]]:
        found = subprocess.run(
            [DESKHAND, "doctor", "--json"],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={
                **os.environ,
                **{"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)},
                "DESKHAND_DATA_DIR": str(tmp_path / "data"),
                "DESKHAND_DATABASE": database,
                "DESKHAND_CLUSTER": "127.0.0.1:6379",
                "DESKHAND_CERTIFICATES": str(cluster.folder / PLANE.name),
            },
            timeout=LIMIT,
        )
        listed = json.loads(found.stdout)["findings"]
        return {
            one["name"]: (one["status"], one["detail"])
            for one in listed
            if one["group"] == "Cluster"
        }

    asyncio.run(prepare())
    token.chmod(0o644)
    found = findings()
    assert found.keys() == {"certificate", "Ray's token", "node n7", "node n8"}
    assert found["node n7"] == ("ok", "0 of 80 places used")
    assert found["node n8"] == ("fail", "refused: no X server")
    assert (found["Ray's token"][0], found["certificate"][0]) == ("fail", "ok")
    token.chmod(0o600)
    assert findings()["Ray's token"][0] == "ok"


async def _seen(session: AsyncSession, name: str, columns: dict[str, Any]) -> None:
    await nodes.seen(session, name, **columns)


@pytest.mark.slow("two commands")
def test_nodes_are_listed_and_drained(database: str, tmp_path: Path) -> None:
    async def prepare() -> None:
        async with await Store.open(database) as store:
            columns = {"address": "h:1", "version": "1.0", "places": 80}
            await store.write(lambda s: nodes.seen(s, "n7", **columns))

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [DESKHAND, "nodes", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "DESKHAND_DATABASE": database},
            timeout=LIMIT,
        )

    asyncio.run(prepare())
    drained = command("drain", "n7", "--wait")
    assert drained.stdout.splitlines() == [
        "node n7 gets no new desktops",
        "node n7 has no desktops any more",
    ], drained.stderr
    listed = command()
    assert listed.stdout.split("\n")[0].split()[:3] == ["NAME", "DESKTOPS", "PLACES"]
    assert "draining" in listed.stdout
    assert '"state": "draining"' in command("--json").stdout
    assert command("undrain", "n7").returncode == 0
    refused = command("drain", "n9")
    assert (refused.returncode, refused.stderr) == (
        1,
        "deskhand: there is no node n9; deskhand nodes lists them\n",
    )
