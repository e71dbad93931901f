"""An agent uses up processes, memory and disk of the machine."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from deskhand.desktop.launch.desktop_group import DesktopGroup, hierarchy
from deskhand.desktop.launch.limits import CONTROLLERS
from tests.attack.attackers import FORK_BOMB, HOG, LIMITS, output, python
from tests.system.services import Service, service, until
from tests.system.small_disk import small_disk

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root limits desktops"),
]


@pytest.fixture(scope="module")
def desktops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Service]]:
    folder = tmp_path_factory.mktemp("limits")
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(folder / "disk", 200))
        place = ("--folder", str(disk / "desktop"))
        attacker = service(folder / "attacker.log", "desktop", *LIMITS, *place)
        other = service(folder / "other.log", "desktop")
        yield stack.enter_context(attacker), stack.enter_context(other)


def available() -> set[str]:
    """Return the controllers of the hierarchy of version 2."""
    with suppress(OSError):
        return set((hierarchy() / "cgroup.controllers").read_text().split())
    return set()


def usage(group: Path) -> int:
    """Return the microseconds of the processor that a group has used."""
    return int((group / "cpu.stat").read_text().split()[1])


def serves(desktop: Service) -> bool:
    """Return True if a desktop answers and shows its screen."""
    return (
        desktop.http.get("/healthz").status_code == 200
        and desktop.http.get("/api/v0/desktop/screenshot").status_code == 200
    )


def background(desktop: Service, script: str) -> str:
    body = {"command": f"exec /usr/bin/python3 -c '{script}'", "background": True}
    return str(desktop.post("/api/v0/processes/start", body)["id"])


def count(user: str) -> int:
    """Return how many processes and threads a user id has."""
    found = subprocess.run(["ps", "-u", user, "-L", "-o", "pid="], capture_output=True, check=False)
    return len(found.stdout.split())


def test_the_limits_are_in_the_status(desktops: tuple[Service, Service]) -> None:
    mib = 1 << 20
    assert desktops[0].get("/api/v0/desktop")["limits"] == {
        "processes": 300,
        "memory_bytes": 512 * mib,
        "temporary_bytes": 64 * mib,
        "cpu_weight": 100,
    }
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = desktops[1].get("/api/v0/desktop")["limits"]
    assert (limits["processes"], limits["temporary_bytes"]) == (2000, 1024 * mib)
    assert limits["memory_bytes"] == min(4096 * mib, machine // 2)


def test_a_fork_bomb_stays_within_its_desktop_and_ends_with_it(
    desktops: tuple[Service, Service], tmp_path: Path
) -> None:
    with service(tmp_path / "bomb.log", "desktop", *LIMITS) as attacker:
        user = output(attacker, "id -u")
        background(attacker, FORK_BOMB)
        until(lambda: count(user) > 290, "as many processes as the limit allows")
        assert serves(desktops[1])
        assert serves(attacker)
        assert count(user) <= 310
    until(lambda: count(user) == 0, "the end of all of them")


def test_memory_hogs_are_killed(desktops: tuple[Service, Service]) -> None:
    attacker, other = desktops
    hogs = [background(attacker, HOG) for _ in range(10)]

    def ended() -> int:
        listed = [attacker.get(f"/api/v0/processes/{hog}/output") for hog in hogs]
        return sum(not one["running"] for one in listed)

    until(lambda: ended() >= 9, "the end of most hogs")
    assert serves(other)
    assert serves(attacker)
    for hog in hogs:
        with suppress(AssertionError):
            attacker.post(f"/api/v0/processes/{hog}/signal", {"signal": "kill"})


def test_a_filled_disk_harms_nobody_else(desktops: tuple[Service, Service]) -> None:
    attacker, other = desktops
    for place, least in (("/tmp", 60), ("$HOME", 100)):
        assert "No space left" in output(attacker, f"cat /dev/zero > {place}/filled")
        size = int(output(attacker, f"stat -c %s {place}/filled"))
        assert least << 20 <= size <= 200 << 20, place
        assert serves(other)
        assert serves(attacker)
        output(attacker, f"rm {place}/filled")
    assert python(attacker, "print('works')") == "works"


@pytest.mark.skipif(not available() >= CONTROLLERS, reason="needs the controller cpu of cgroup v2")
def test_the_processor_is_shared_by_weight(tmp_path: Path) -> None:
    with ExitStack() as stack:
        groups: list[Path] = []
        for weight in ("100", "400"):
            options = ("desktop", "--desktop-cpu-weight", weight)
            desktop = stack.enter_context(service(tmp_path / f"{weight}.log", *options))
            for _ in range(os.cpu_count() or 1):
                background(desktop, "while True: pass")
            group = DesktopGroup(str(desktop.get("/api/v0/desktop")["instance_id"]))
            groups.append(group.path)
        before = [usage(one) for one in groups]
        until(lambda: usage(groups[1]) - before[1] > 2_000_000, "two seconds of the processor")
        shares = [usage(one) - start for one, start in zip(groups, before, strict=True)]
        assert shares[1] > 2 * shares[0], shares
