import os
import subprocess
from dataclasses import replace
from pathlib import Path

from deskhand.tools.control_plane.service.launching import launching
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.fleet.registry import DesktopRegistry
from tests.tools.fleet.test_registry import entry

RUNS, DEAD = "aaaaaaaa", "deaddead"


def test_desktops_of_a_version_without_launcher_are_known(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "desktops"
    entries = DesktopRegistry(data / "run" / "desktops")
    entries.prepare()
    recording = root / DEAD / "recordings" / "a1111111-2222-3333-4444-555555555555"
    recording.mkdir(parents=True)
    (recording / "1.mp4").touch()
    environment = {**os.environ, "DESKHAND_RUN_DIR": str(root)}
    with subprocess.Popen(["sleep", "1000"]) as keeper:
        entries.save(replace(entry(keeper.pid), id=RUNS))
        entries.save(replace(entry(keeper.pid), id=DEAD, start_time=1))
        with launching(Settings(data_dir=data), environment) as found:
            listed = found.client.list()
            assert {name: one.state for name, one in listed.items()} == {
                RUNS: "runs",
                DEAD: "dead",
            }
            assert listed[DEAD].recordings == {recording.name: ["1.mp4"]}
        keeper.kill()
