"""What the tests of several control planes share: a worker has one server and one deployment."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cluster.actions import ActionLog, HeldModel, script_of_steps
from tests.cluster.click_page import click_page, script_of_clicks
from tests.cluster.deployment import NODES, PLACES, Deployment, data_of, deployment
from tests.cluster.faults.work import CHATS, DISK_MIB, PLANES, STEPS, wait_for_nodes
from tests.cluster.hosts import network
from tests.postgres_server import PostgresServer, binaries, postgres_server
from tests.system.served_models import served
from tests.system.small_disk import small_disk


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresServer]:
    """A private server for all tests, which leave it running."""
    yield from _server()


@pytest.fixture
def database(postgresql: PostgresServer) -> str:
    """The URL of an empty database."""
    return postgresql.database()


@pytest.fixture(scope="session")
def stopped_server() -> Iterator[PostgresServer]:
    yield from _server()


@pytest.fixture
def server(stopped_server: PostgresServer) -> PostgresServer:
    """A server that the test may stop and start; it runs at the begin of each test."""
    stopped_server.start_again()
    return stopped_server


def _server() -> Iterator[PostgresServer]:
    if binaries() is None:
        pytest.skip("the package postgresql is not installed")
    with postgres_server() as made:
        yield made


@pytest.fixture(scope="session")
def log() -> Iterator[ActionLog]:
    """What the agents of the deployment have done."""
    with ActionLog("0.0.0.0") as made:
        yield made


@pytest.fixture(scope="session")
def running(
    postgresql: PostgresServer, log: ActionLog, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """A deployment, which each test leaves as it was, without chats and desktops.

    Each of two workers has one (`groups`).
    """
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
            wait_for_nodes(made)
            yield made
