"""One deployment for all tests of faults; each test leaves it as it was."""

import os
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cluster.actions import ActionLog, HeldModel, script_of_steps
from tests.cluster.click_page import click_page, script_of_clicks
from tests.cluster.deployment import NODES, PLACES, Deployment, data_of, deployment
from tests.cluster.faults.work import CHATS, DISK_MIB, LIMIT, PLANES, STEPS, end_all
from tests.cluster.hosts import network
from tests.postgres_server import PostgresServer
from tests.system.served_models import served
from tests.system.services import until
from tests.system.small_disk import small_disk

GOOD_NODES = "SELECT count(*) FROM nodes WHERE reason = ''"


@pytest.fixture(scope="session")
def seed() -> int:
    """Of all random moments; ``DESKHAND_TEST_SEED`` repeats those of another run."""
    return int(os.environ.get("DESKHAND_TEST_SEED", "0")) or random.randrange(1 << 30)


@pytest.fixture(scope="session")
def log() -> Iterator[ActionLog]:
    with ActionLog("0.0.0.0") as made:
        yield made


@pytest.fixture(scope="session")
def running(
    postgresql: PostgresServer, log: ActionLog, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    # Paths of Unix sockets below it must be short.
    folder = Path(tmp_path_factory.mktemp("c"))
    places = max(PLACES, CHATS // len(NODES) + 1)
    with network(NODES) as net:
        log.address = net.address
        with ExitStack() as stack:
            for name in NODES:
                # A disk of the node's own, which a test can make smaller.
                stack.enter_context(small_disk(data_of(folder, name), DISK_MIB))
            url = stack.enter_context(click_page(log))
            scripts = script_of_steps(log, STEPS), script_of_clicks(log, url, STEPS)
            environment = stack.enter_context(served(HeldModel(scripts, log), scripts[0].name))
            made = stack.enter_context(
                deployment(postgresql, folder, environment, PLANES, places, net)
            )
            until(lambda: made.rows(GOOD_NODES) == [[str(len(NODES))]], "all nodes", LIMIT)
            yield made


@pytest.fixture
def d(running: Deployment, log: ActionLog, seed: int) -> Iterator[Deployment]:
    """The deployment, with an empty log of actions; its chats and desktops end afterwards."""
    log.clear()
    print("seed", seed)
    yield running
    # For a test that has failed.
    print(*log.lines, sep="\n")
    for plane in running.planes:
        print(plane.log.name, plane.log.read_text()[-4000:])
    print(running.rows("SELECT name, reason, seen_at FROM nodes"))
    print(running.rows("SELECT id, state, node, reason FROM desktops WHERE state <> 'ended'"))
    log.release()
    end_all(running)
