"""Rows of desktops and nodes, on both databases."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from deskhand.tools.store.database import Store
from deskhand.tools.store.rows import desktops, nodes
from deskhand.tools.store.tables.base import database_time
from tests.tools.store.fakes import database


def _at(node: str) -> dict[str, Any]:
    return {"desktop_id": "d1", "node": node, "address": f"{node}:1"}


def played(folder: Path, work: Callable[[Store], Awaitable[None]]) -> None:
    async def main() -> None:
        async with await Store.open(database(folder / "deskhand.db")) as store:
            await work(store)

    asyncio.run(main())


def test_a_state_changes_only_from_one_that_the_caller_names(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        await store.write(lambda s: desktops.order(s, "d1", "c1", {"id": "d1"}, 1.0))
        starts = [partial(desktops.begin_start, **_at(f"n{n}")) for n in range(4)]
        begun = await asyncio.gather(*map(store.write, starts))
        # One of the four has begun it, under the generation 1.
        assert sorted(begun) == [0, 0, 0, 1]
        wanted = (desktops.WANTED,)
        assert not await store.write(lambda s: desktops.move(s, "d1", wanted, desktops.READY))
        starting = (desktops.STARTING,)
        assert await store.write(
            lambda s: desktops.move(s, "d1", starting, desktops.READY, facts={"pid": 1})
        )
        (row,) = await store.read(desktops.living)
        assert (row.state, row.facts, row.generation) == (desktops.READY, {"pid": 1}, 1)

    played(tmp_path, work)


def test_desktops_that_are_over_are_forgotten_after_a_while(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        for name in ("d1", "d2"):
            order: dict[str, Any] = {"desktop_id": name, "chat_id": None, "wanted": {"id": name}}
            await store.write(partial(desktops.order, created_at=1.0, **order))
        await store.write(lambda s: desktops.move(s, "d1", (desktops.WANTED,), desktops.ENDED))
        await store.write(desktops.forget_old)
        assert await store.read(lambda s: desktops.get(s, "d1")) is not None
        await store.write(
            lambda s: desktops.move(s, "d1", (desktops.ENDED,), desktops.ENDED, reason="")
        )
        assert [row.id for row in await store.read(desktops.living)] == ["d2"]

    played(tmp_path, work)


def test_a_node_is_one_row_however_often_it_is_seen(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        for places in (4, 8):
            seen = partial(nodes.seen, name="n1", address="10.0.0.7:7444", places=places)
            await store.write(seen)
        await store.write(lambda s: nodes.refuse_for(s, "n1", 600.0, "5 starts failed"))
        (row,) = await store.read(nodes.every)
        now = await store.read(database_time)
        assert (row.places, row.reason, row.draining) == (8, "5 starts failed", False)
        assert 590 < row.refused_until - now < 610
        assert await store.write(lambda s: nodes.change(s, "n1", draining=True))
        assert not await store.write(lambda s: nodes.change(s, "n2", draining=True))
        await store.write(lambda s: nodes.forget(s, "n1"))
        assert await store.read(nodes.every) == []

    played(tmp_path, work)


def test_the_columns_of_the_placer_change_only_where_they_mean_something(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        await store.write(lambda s: desktops.order(s, "d1", None, {"id": "d1"}, 1.0))
        await store.write(lambda s: desktops.explain(s, "d1", "no room", ["n1"]))
        (row,) = await store.read(desktops.living)
        assert (row.reason, row.full_nodes) == ("no room", ["n1"])
        await store.write(lambda s: desktops.begin_start(s, "d1", "n1", "h:1"))
        await store.write(lambda s: desktops.explain(s, "d1", "too late", ["n2"]))
        assert not await store.write(lambda s: desktops.readdress(s, "d1", "n1", "h:2"))
        old: dict[str, Any] = {
            "before": (desktops.STARTING,),
            "state": desktops.READY,
            "generation": 0,
        }
        assert not await store.write(partial(desktops.move, desktop_id="d1", **old))
        assert await store.write(partial(desktops.move, desktop_id="d1", **old | {"generation": 1}))
        assert await store.write(lambda s: desktops.readdress(s, "d1", "n1", "h:2"))
        (row,) = await store.read(desktops.living)
        assert (row.reason, row.full_nodes, row.address) == ("", None, "h:2")
        assert await store.read(desktops.count_by_node) == {"n1": 1}

    played(tmp_path, work)


def test_the_reason_of_a_refused_node_stays(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        await store.write(lambda s: nodes.seen(s, "n1", address="h:1"))
        await store.write(lambda s: nodes.mark(s, "n1", "it is drained"))
        (row,) = await store.read(nodes.every)
        assert row.reason == "it is drained"
        await store.write(lambda s: nodes.refuse_for(s, "n1", 600.0, "5 starts failed"))
        await store.write(lambda s: nodes.mark(s, "n1", ""))
        (row,) = await store.read(nodes.every)
        assert row.reason == "5 starts failed"

    played(tmp_path, work)
