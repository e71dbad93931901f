"""Which tests of `make cluster` one worker runs."""

from pathlib import Path

from tests.cluster.groups import DEPLOYMENTS, group_of

TESTS = Path(__file__).parent.parent


def test_two_workers_run_all_tests_of_a_deployment() -> None:
    faults = list((TESTS / "cluster" / "faults").glob("test_*.py"))
    using = [one for one in TESTS.rglob("test_*.py") if "running: Deployment" in one.read_text()]
    files = [
        str(path.relative_to(TESTS.parent))
        for path in (*faults, *using)
        if path.name != Path(__file__).name
    ]
    assert len(files) > len(faults)
    groups = {group_of(f"{file}::test_a") for file in files}
    assert groups == set(DEPLOYMENTS.values())
    assert len(groups) == 2


def test_others_are_alone_or_with_those_of_their_ray() -> None:
    alone = "tests/cluster/test_bus.py::test_a[a::b]"
    assert group_of(alone) == alone
    assert (
        group_of("tests/cluster/test_rays_rooms.py::test_a") == "tests/cluster/test_rays_rooms.py"
    )
