"""A control plane that was taken over by bytes of an agent has no root's rights to give."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from deskhand.desktop.fork_server.server import TITLE as FORK_SERVER
from tests.attack.crafted_picture import bomb, fill_conversation
from tests.attack.relocated import Installation, installation, user
from tests.attack.test_decoder import SOON, TOUR, check_screenshot, craft, fill, hanging, picture
from tests.live_trees import paths_below, statuses_below
from tests.system.gated_model import COLOURS, gated_model, painted_report, painting
from tests.system.services import Json, Service, service, until
from tests.system.test_lost_desktop import alive, check_stored, waiting_agent

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
    for process in psutil.process_iter():
        for link in paths_below(Path(f"/proc/{process.pid}/fd")):
            # Descriptors are closed meanwhile, and some cannot be read even by root.
            with suppress(OSError):
                if str(link.readlink()).removeprefix("socket:[").removesuffix("]") in inodes:
                    found.add(process.pid)
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
        statuses = [installed.data.stat(), *statuses_below(installed.data).values()]
        assert {status.st_uid for status in statuses} == {user().pw_uid}
        assert (user_of(plane)["state"], user_of(plane)["because"]) == ("deskhand", None)


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
            agent = waiting_agent(plane, model, 8)
            agent.kill()
            model.gates[8].open()
            done = agent.wait(plane)
            assert done["report"] == "Painted."
            check_stored(plane, agent, done, COLOURS[0], COLOURS[-1])
            # The desktop that the agent got afterwards ends as well.
            desktops = [one["pid"] for one in plane.get("/api/v0/desktops")["desktops"]]
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in desktops), "all ends")


@pytest.mark.slow("videos and a picture take workers to their limits")
def test_crafted_videos_and_pictures_cause_one_422_each_and_nothing_else(
    installed: Installation,
) -> None:
    data = installed.folder / "crafted"
    (data / "files").mkdir(parents=True)
    asyncio.run(fill(data, craft(installed.folder)))
    asyncio.run(fill_conversation(data, bomb()))
    data.chmod(0o700)
    for path in (data, *data.rglob("*")):
        os.chown(path, user().pw_uid, user().pw_gid)
    with plane_in(installed, data, "--model", TOUR, environment=SOON) as plane:
        assert_rightless(plane)
        check_screenshot(plane, "it needs too much memory")
        assert picture(plane, "huge").status_code == 422
        found, workers = hanging(plane)
        assert found == 422
        own = Path("/proc/self/ns")
        for worker in workers:
            # Without root too, a worker has namespaces and no rights.
            for kind in ("net", "mnt", "pid", "ipc", "user"):
                assert worker[kind] != str((own / kind).readlink()), kind
            assert (worker["CapEff"], worker["NoNewPrivs"]) == ("0" * 16, "1")
            assert worker["root"] == "['work']"
        assert picture(plane, "good").headers["content-type"] == "image/jpeg"
        assert plane.http.get("/api/v0/recordings/good/clip?from=0&to=0.5").status_code == 200
        assert plane.http.get("/healthz").status_code == 200


@pytest.mark.x11
@pytest.mark.slow("two control planes, one after the other")
def test_a_kept_desktop_is_found_and_ended_by_the_next_control_plane(
    installed: Installation,
) -> None:
    data = installed.folder / "kept"
    data.mkdir(mode=0o700)
    with plane_in(installed, data, "--keep-desktops") as plane:
        assert_rightless(plane)
        made = plane.post("/api/v0/desktops", {"name": "kept"})
    assert Path(f"/proc/{made['pid']}").exists()
    with plane_in(installed, data) as plane:
        assert [one["pid"] for one in plane.get("/api/v0/desktops")["desktops"]] == [made["pid"]]
        found = plane.http.get(f"/api/v0/desktops/{made['id']}/desktop/screenshot")
        assert found.headers["content-type"].startswith("image/")
    # Its parent was the first launcher, so that the machine's init reaps it.
    until(lambda: not alive(made["pid"]), "the end of the desktop")


def user_of(plane: Service) -> Json:
    """Return the protection that the status reports of the control plane's user."""
    listed = plane.get("/api/v0/status")["protections"]
    (found,) = (one for one in listed if one["name"] == "control plane user")
    return dict(found)


def parent_of(pid: int) -> int:
    return int(status(pid)["PPid"])


def test_with_its_data_in_the_home_of_root_it_serves_as_root_and_doctor_says_why(
    installed: Installation,
) -> None:
    home = installed.folder / "root"
    home.mkdir(mode=0o700)
    data = home / "data"
    with plane_in(installed, data) as plane:
        assert status(plane.process.pid)["Uid"].split()[0] == "0"
        reported = user_of(plane)
        assert plane.http.get("/healthz").status_code == 200
        # The launcher starts its desktops all the same.
        launcher = parent_of(plane.post("/api/v0/desktops", {})["pid"])
        if Path(f"/proc/{launcher}/cmdline").read_text().startswith(FORK_SERVER[0]):
            launcher = parent_of(launcher)
        assert launcher != plane.process.pid
        assert "tools/launcher/__main__.py" in Path(f"/proc/{launcher}/cmdline").read_text()
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
    assert reported["state"] == "root"
    assert f"{reported['state']}, because {reported['because']}" in line
    assert reported["remedy"] in doctor.stdout
