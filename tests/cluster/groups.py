"""Groups of tests that one worker runs, as they share what it has started: ``--dist=loadgroup``.

That of pytest-xdist reads a marker, and does not know the node ids of pytest 9.2.
"""

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

DEPLOYMENTS = {
    "tests/cluster/faults/test_nodes.py": "deployment of nodes",
    "tests/cluster/faults/test_planes.py": "deployment of control planes",
    "tests/cluster/test_live_views.py": "deployment of control planes",
}
"""Files whose tests use the fixture ``running``: two of them, as the tests of one take half of the
target's time."""
ALONE = ("tests/cluster/test_ray_user.py", "tests/cluster/test_rays_rooms.py")
"""Files whose tests share a Ray."""


def group_of(nodeid: str) -> str:
    """Return the group of a test; most are alone in theirs."""
    file = nodeid.partition("::")[0]
    if file in DEPLOYMENTS:
        return DEPLOYMENTS[file]
    return file if file in ALONE else nodeid


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Gives workers one group after the other, the largest first."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
