"""`deskhand nodes`: the nodes of a cluster, as its database describes them."""

import asyncio
from collections.abc import Awaitable, Callable

from deskhand.tools.cluster.placing.node_view import NodeView
from deskhand.tools.cluster.placing.records import node_views
from deskhand.tools.commands.exit_status import DONE, FAILED
from deskhand.tools.commands.output.screen import print_table
from deskhand.tools.commands.output.table import Column
from deskhand.tools.commands.terminal import START_ERRORS, print_error, print_json, print_line
from deskhand.tools.commands.terminal import settings as read_settings
from deskhand.tools.control_plane.settings import BadSetting
from deskhand.tools.store.database import Store
from deskhand.tools.store.rows import desktops, nodes

ASK_SECONDS = 1.0
"""Between two looks at a node that is drained."""
COLUMNS = (
    Column("NAME"),
    Column("DESKTOPS", right=True),
    Column("PLACES", right=True),
    Column("VERSION", optional=2),
    Column("STATE"),
    Column("FAILURES", optional=1, right=True),
    Column("REASON", flexible=True),
)
NONE = "there is no node; start one with `deskhand node`"


def listing(as_json: bool) -> int:
    """Print the nodes; return the exit status."""

    async def work(store: Store) -> int:
        found = await store.read(node_views)
        if as_json:
            print_json({"nodes": [one.to_json() for one in found]})
        else:
            print_table(COLUMNS, [_row(one) for one in found], NONE)
        return DONE

    return _with_store(work)


def drain(name: str, wait: bool) -> int:
    """Give a node no new desktops; return the exit status."""

    async def work(store: Store) -> int:
        if not await _set_draining(store, name, True):
            return FAILED
        print_line(f"node {name} gets no new desktops")
        if wait:
            await _until_empty(store, name)
            print_line(f"node {name} has no desktops any more")
        return DONE

    return _with_store(work)


def undrain(name: str) -> int:
    """Give a node desktops again; return the exit status."""

    async def work(store: Store) -> int:
        if not await _set_draining(store, name, False):
            return FAILED
        print_line(f"node {name} gets desktops again")
        return DONE

    return _with_store(work)


async def _set_draining(store: Store, name: str, draining: bool) -> bool:
    found = await store.write(lambda session: nodes.change(session, name, draining=draining))
    if not found:
        print_error(f"there is no node {name}; deskhand nodes lists them")
    return found


async def _until_empty(store: Store, name: str) -> None:
    while True:
        counts = await store.read(desktops.count_by_node)
        if not counts.get(name):
            return
        await asyncio.sleep(ASK_SECONDS)


def _row(node: NodeView) -> list[str]:
    return [
        *(node.name, str(node.desktops), str(node.places), node.version, node.state),
        *(str(node.failures or ""), node.reason),
    ]


def _with_store(work: Callable[[Store], Awaitable[int]]) -> int:
    async def opened() -> int:
        settings = read_settings({})
        if not settings.database:
            raise BadSetting("database", "nodes are in a database on a server; it is needed")
        async with await Store.open(settings.database) as store:
            return await work(store)

    try:
        return asyncio.run(opened())
    except START_ERRORS as error:
        print_error(str(error))
        return FAILED
