import json
import os
from pathlib import Path

import pytest

from deskhand.desktop.isolation.process_identity import boot_id, start_time
from deskhand.tools.commands.control_plane import NoControlPlane, find_address, read_token
from deskhand.tools.control_plane.settings import Settings


def settings(folder: Path) -> Settings:
    (folder / "run").mkdir()
    return Settings(data_dir=folder)


def test_a_given_address_precedes_the_recorded_one(tmp_path: Path) -> None:
    found = settings(tmp_path)
    note = {"url": "http://127.0.0.1:7777", "pid": os.getpid()}
    (tmp_path / "run" / "plane.json").write_text(json.dumps(note))
    assert find_address(found, "http://a", {"DESKHAND_URL": "http://b"}) == "http://a"
    assert find_address(found, None, {"DESKHAND_URL": "http://b"}) == "http://b"
    assert find_address(found, None, {}) == "http://127.0.0.1:7777"


@pytest.mark.parametrize("text", ["", "{", '{"url": "http://127.0.0.1:7777", "pid": 4194305}'])
def test_the_record_of_an_ended_process_is_ignored(tmp_path: Path, text: str) -> None:
    found = settings(tmp_path)
    assert find_address(found, None, {}) is None
    (tmp_path / "run" / "plane.json").write_text(text)
    assert find_address(found, None, {}) is None


@pytest.mark.parametrize(
    ("boot", "later", "running"), [("", 0, True), ("", 1, False), ("x", 0, False)]
)
def test_the_pid_alone_does_not_make_the_record_valid(
    tmp_path: Path, boot: str, later: int, running: bool
) -> None:
    started = start_time(os.getpid())
    assert started is not None
    note = {"url": "unix:/a", "pid": os.getpid(), "boot": boot_id() + boot}
    found = settings(tmp_path)
    (tmp_path / "run" / "plane.json").write_text(json.dumps({**note, "started": started + later}))
    assert (find_address(found, None, {}) == "unix:/a") is running


def test_the_token_comes_from_the_environment_or_the_data_directory(tmp_path: Path) -> None:
    found = settings(tmp_path)
    with pytest.raises(NoControlPlane, match=r"DESKHAND_TOKEN.*token"):
        read_token(found, {})
    (tmp_path / "token").write_text("dh_file\n")
    assert read_token(found, {}) == "dh_file"
    assert read_token(found, {"DESKHAND_TOKEN": "dh_given"}) == "dh_given"


def test_a_control_plane_records_the_path_of_its_own_token_file(tmp_path: Path) -> None:
    found = settings(tmp_path)
    (tmp_path / "token").write_text("dh_usual\n")
    (tmp_path / "mine").write_text("dh_mine\n")
    note = {"url": "unix:/a", "pid": os.getpid(), "token_file": str(tmp_path / "mine")}
    (tmp_path / "run" / "plane.json").write_text(json.dumps(note))
    assert read_token(found, {}) == "dh_mine"
