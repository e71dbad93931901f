"""One control plane at a time uses a database on a server."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import text

from deskhand.tools.store.backends.sole_use import KEY, SoleUse
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import DatabaseInUse
from tests.cluster.playing import play
from tests.postgres_server import PostgresServer
from tests.system.services import DESKHAND, until
from tests.system.test_database_faults import up

pytestmark = pytest.mark.cluster


def test_a_second_one_is_refused_with_the_name_of_the_first(database: str) -> None:
    async def work() -> None:
        first = await SoleUse.begin(database)
        with pytest.raises(DatabaseInUse, match=r"deskhand \S+ \d+"):
            await SoleUse.begin(database, 0.0)
        await first.close()
        await (await SoleUse.begin(database, 0.0)).close()

    play(work)


def test_a_second_one_waits_until_the_first_has_ended(database: str) -> None:
    async def work() -> None:
        first = await SoleUse.begin(database)
        second = asyncio.create_task(SoleUse.begin(database))
        await asyncio.sleep(0)
        await first.close()
        await (await second).close()

    play(work)


def test_the_lock_is_taken_again_after_a_restart_of_the_server(server: PostgresServer) -> None:
    async def work() -> None:
        url = server.database()
        first = await SoleUse.begin(url)
        kept = asyncio.create_task(first.run())
        await asyncio.to_thread(server.stop, "fast")
        await asyncio.to_thread(server.start)
        held = text("SELECT count(*) FROM pg_locks WHERE objid = :key")
        async with await Store.open(url) as store:
            while await store.read(lambda s: s.scalar(held, {"key": KEY})) == 0:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert not kept.done()
        kept.cancel()
        await asyncio.gather(kept, return_exceptions=True)
        await first.close()

    play(work)


def test_who_has_lost_the_lock_to_another_one_learns_it(server: PostgresServer) -> None:
    async def work() -> None:
        url = server.database()
        first = await SoleUse.begin(url)
        await asyncio.to_thread(server.stop, "fast")
        await asyncio.to_thread(server.start)
        second = await SoleUse.begin(url)
        await first.run()
        await first.close()
        await second.close()

    play(work)


@pytest.mark.slow("two control planes")
def test_a_second_control_plane_does_not_start(server: PostgresServer, tmp_path: Path) -> None:
    environment = {"DESKHAND_DATABASE": server.database()}
    with up(tmp_path / "one", tmp_path / "one.log", environment) as plane:
        ended = subprocess.run(
            [DESKHAND, "up", "--data-dir", str(tmp_path / "two"), "--listen", "127.0.0.1:0"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **environment},
        )
        assert ended.returncode != 0
        assert "is used by another control plane" in ended.stderr
        assert "Traceback" not in ended.stderr
        until(lambda: plane.http.get("/readyz").status_code == 200, "readiness")


def test_planes_whose_desktops_run_on_nodes_share_a_database(database: str) -> None:
    async def work() -> None:
        first = await SoleUse.begin(database, shared=True)
        second = await SoleUse.begin(database, 0.0, shared=True)
        # One with desktops of its own must not join them, nor they it.
        with pytest.raises(DatabaseInUse):
            await SoleUse.begin(database, 0.0)
        await first.close()
        await second.close()
        alone = await SoleUse.begin(database, 0.0)
        with pytest.raises(DatabaseInUse):
            await SoleUse.begin(database, 0.0, shared=True)
        await alone.close()

    play(work)
