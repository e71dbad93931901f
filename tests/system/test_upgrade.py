"""A control plane that takes over what the last release has started.

`tests/data/releases` contains the wheel of that release.
"""

from pathlib import Path

import pytest

from tests.system.gated_model import COLOURS, gated_model, painted_report, painting
from tests.system.installing import ROOT, Installation, install_wheel
from tests.system.services import PATIENCE, Service, descendants_of, service, until

pytestmark = [
    pytest.mark.soak,
    pytest.mark.slow("two control planes, one after the other"),
    pytest.mark.x11,
]

RELEASES = ROOT / "tests" / "data" / "releases"


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The last release, in an environment of its own."""
    (wheel,) = RELEASES.glob("*.whl")
    return install_wheel(wheel, tmp_path_factory.mktemp("released"))


def instance(plane: Service, desktop_id: str) -> str:
    return str(plane.get(f"/api/v0/desktops/{desktop_id}/desktop")["instance_id"])


@pytest.mark.parametrize("end", [pytest.param("terminate", marks=pytest.mark.full), "kill"])
def test_an_upgrade_while_a_chat_runs_adopts_desktops_and_the_chat_ends_well(
    released: Installation, tmp_path: Path, end: str
) -> None:
    steps = [painting(COLOURS[0]), {"calls": [{"computer.screenshot": {}}]}, painted_report("Two")]
    with gated_model(steps, 1) as model:
        given = [*("up", "--data-dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0")]
        given += ["--keep-desktops", "--model", "anthropic:gated"]
        program, environment = (released.deskhand,), model.environment
        with service(tmp_path / "old.log", *given, environment=environment, program=program) as old:
            free = old.post("/api/v0/desktops", {"name": "the one"})["id"]
            chat = old.tool("spawn_computer_use_agent", prompt="Paint it twice")["chat_id"]
            model.gates[1].wait()
            own = old.get(f"/api/v0/chats/{chat}")["desktop_id"]
            before = {name: instance(old, name) for name in (free, own)}
            getattr(old.process, end)()
            old.process.wait(PATIENCE)
        with service(tmp_path / "new.log", *given, environment=environment) as new:
            listed = {one["id"]: one for one in new.get("/api/v0/desktops")["desktops"]}
            assert {name: instance(new, name) for name in listed} == before
            assert listed[free]["name"] == "the one"
            model.gates[1].open()
            done = new.tool("wait_agent", chat_id=chat, timeout_seconds=60)
            assert (done["report"], done["outcome"]) == ("Two", "done"), done
            assert done["recording_file_id"]
            for name in listed:
                new.http.delete(f"/api/v0/desktops/{name}")
    until(lambda: not any(map(descendants_of, before.values())), "the end of both desktops")
