"""Each test of faults leaves the deployment as it was."""

import os
import random
from collections.abc import Iterator

import pytest

from tests.cluster.actions import ActionLog
from tests.cluster.deployment import Deployment
from tests.cluster.faults.work import end_all, wait_for_nodes


@pytest.fixture(scope="session")
def seed() -> int:
    """Of all random moments; ``DESKHAND_TEST_SEED`` repeats those of another run."""
    return int(os.environ.get("DESKHAND_TEST_SEED", "0")) or random.randrange(1 << 30)


@pytest.fixture
def d(running: Deployment, log: ActionLog, seed: int) -> Iterator[Deployment]:
    """The deployment, with an empty log of actions; its chats and desktops end afterwards."""
    log.clear()
    print("seed", seed)
    wait_for_nodes(running)
    yield running
    # For a test that has failed.
    print(*log.lines, sep="\n")
    for plane in running.planes:
        print(plane.log.name, plane.log.read_text()[-4000:])
    print(running.rows("SELECT name, reason, seen_at FROM nodes"))
    print(running.rows("SELECT id, state, node, reason FROM desktops WHERE state <> 'ended'"))
    log.release()
    end_all(running)
