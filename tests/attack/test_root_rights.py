"""A control plane that was taken over by bytes of an agent has no root's rights to give."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.attack.relocated import Installation, installation, user
from tests.attack.test_decoder import craft, fill, picture
from tests.system.gated_model import COLOURS, gated_model, painted_report, painting
from tests.system.services import Service, service, until
from tests.system.test_lost_desktop import Agent, check_stored

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
]


@pytest.fixture(scope="module")
def installed() -> Iterator[Installation]:
    with installation() as found:
        yield found


@contextmanager
def plane_in(
    installed: Installation,
    data: Path,
    *options: str,
    environment: dict[str, str] | None = None,
) -> Iterator[Service]:
    arguments = ("up", "--listen", "127.0.0.1:0", "--data-dir", str(data), *options)
    with service(
        installed.folder / "errors.log",
        *arguments,
        environment=environment,
        program=installed.program,
    ) as found:
        yield found


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def listeners(plane: Service) -> set[int]:
    """Return the processes that hold the socket on which the control plane listens."""
    port = f":{int(plane.url.rpartition(':')[2]):04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inodes = {row[9] for row in rows if row[1].endswith(port) and row[3] == "0A"}
    assert inodes
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if str(link.readlink()).removeprefix("socket:[").removesuffix("]") in inodes:
                found.add(int(link.parts[2]))
    return found


def assert_rightless(plane: Service) -> None:
    assert listeners(plane) == {plane.process.pid}
    facts = status(plane.process.pid)
    owner = user()
    assert facts["Uid"].split() == [str(owner.pw_uid)] * 4
    assert facts["Gid"].split() == [str(owner.pw_gid)] * 4
    assert facts["Groups"] == ""
    assert {facts[name] for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")} == {"0" * 16}


def test_the_process_that_listens_is_not_root(installed: Installation) -> None:
    with plane_in(installed, installed.data) as plane:
        assert_rightless(plane)
        assert plane.http.get("/healthz").status_code == 200
        # The user reads nothing that is root's alone.
        owners = {path.stat().st_uid for path in (installed.data, *installed.data.rglob("*"))}
        assert owners == {user().pw_uid}


@pytest.mark.x11
@pytest.mark.slow("an agent with eight steps whose desktop is killed")
def test_agents_work_and_the_recording_of_a_lost_desktop_is_fetched(
    installed: Installation,
) -> None:
    data = installed.folder / "lost"
    data.mkdir(mode=0o700)
    steps = [*map(painting, COLOURS), painted_report()]
    with gated_model(steps, 8) as model:
        with plane_in(installed, data, "--model", "gated", environment=model.environment) as plane:
            assert_rightless(plane)
            agent = Agent(plane)
            model.gates[8].wait()
            agent.locate(plane)
            agent.wait_until_written()
            agent.kill()
            model.gates[8].open()
            done = agent.wait(plane)
            assert done["report"] == "Painted."
            check_stored(plane, agent, done, COLOURS[0], COLOURS[-1])
            # The desktop that the agent got afterwards ends as well.
            desktops = [one["pid"] for one in plane.get("/api/v0/desktops")["desktops"]]
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in desktops), "all ends")


@pytest.mark.slow("a video hangs until the limit of its worker")
@pytest.mark.parametrize("name", ["hangs", "huge"])
def test_a_crafted_video_causes_one_422_and_nothing_else(
    installed: Installation, name: str
) -> None:
    data = installed.folder / f"video-{name}"
    (data / "files").mkdir(parents=True)
    asyncio.run(fill(data, craft(installed.folder)))
    data.chmod(0o700)
    for path in (data, *data.rglob("*")):
        os.chown(path, user().pw_uid, user().pw_gid)
    with plane_in(installed, data) as plane:
        assert_rightless(plane)
        assert picture(plane, "good").headers["content-type"] == "image/jpeg"
        assert picture(plane, name).status_code == 422
        assert picture(plane, "good").status_code == 200
        assert plane.http.get("/healthz").status_code == 200


def test_with_its_data_in_the_home_of_root_it_serves_as_root_and_doctor_says_why(
    installed: Installation,
) -> None:
    home = installed.folder / "root"
    home.mkdir(mode=0o700)
    data = home / "data"
    with plane_in(installed, data) as plane:
        assert status(plane.process.pid)["Uid"].split()[0] == "0"
        assert plane.http.get("/healthz").status_code == 200
        doctor = subprocess.run(
            [*installed.program, "doctor", "--data-dir", str(data)],
            capture_output=True,
            text=True,
            check=False,
        )
    (line,) = (one for one in doctor.stdout.splitlines() if "control plane user" in one)
    assert line.startswith("warn")
    assert f"root, because the user deskhand cannot use {data}: Permission denied" in line
    assert "/var/lib/deskhand" in line
