"""Backups that are made while an agent works."""

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.system.gated_model import COLOURS, gated_model, painted_report, painting, plane_of
from tests.system.services import DESKHAND, PATIENCE

pytestmark = [
    pytest.mark.soak,
    pytest.mark.slow("two control planes, one after the other, and backups"),
    pytest.mark.x11,
]


def deskhand(*arguments: str) -> None:
    ended = subprocess.run(
        [DESKHAND, *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, check=False
    )
    assert ended.returncode == 0, ended.stderr


def lost(data: Path) -> list[str]:
    """Return the stored files that a restored database names and its directory lacks."""
    found = {path.stem: path for path in (data / "files").rglob("*") if path.is_file()}
    with closing(sqlite3.connect(data / "deskhand.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = database.execute("SELECT id FROM files").fetchall()
    return [one for (one,) in rows if one not in found]


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.full)])
def test_each_backup_of_a_working_agent_is_whole_and_its_run_continues_elsewhere(
    tmp_path: Path, times: int
) -> None:
    steps = [*map(painting, COLOURS), painted_report("All of them")]
    last = len(COLOURS)
    place, data = str(tmp_path / "place"), str(tmp_path / "data")
    with gated_model(steps, last) as model:
        with plane_of(tmp_path, model, "first") as plane:
            chat = plane.tool("spawn_computer_use_agent", prompt="Paint")["chat_id"]
            for _ in range(times):
                # The agent takes its steps meanwhile.
                deskhand("backup", place, "--data-dir", data)
            model.gates[last].wait()
            deskhand("backup", place, "--data-dir", data)
            before = plane.get(f"/api/v0/chats/{chat}")
            plane.process.kill()
        names = sorted(path.stem for path in (tmp_path / "place" / "backups").iterdir())
        assert len(names) == times + 1
        for name in names[:times]:
            restored = tmp_path / name
            deskhand("restore", place, "--backup", name, "--data-dir", str(restored))
            assert lost(restored) == []
        (tmp_path / "data").rename(tmp_path / "gone")
        deskhand("restore", place, "--data-dir", data)
        assert lost(tmp_path / "data") == []
        with plane_of(tmp_path, model, "second") as plane:
            after = plane.get(f"/api/v0/chats/{chat}")
            assert [step["id"] for step in after["steps"]] == [
                step["id"] for step in before["steps"]
            ]
            for step in after["steps"]:
                assert plane.http.get(f"/api/v0/files/{step['screenshot_file_id']}").is_success
            model.gates[last].open()
            done = plane.tool("wait_agent", chat_id=chat, timeout_seconds=60)
            assert done["report"] == "All of them", done
