from pathlib import Path

from deskhand.tools.control_plane.permissions import close_to_others, open_to_others


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def filled(data: Path, mode_of_all: int) -> Path:
    (data / "logs").mkdir(parents=True)
    (data / "logs" / "access.jsonl").write_text("")
    (data / "token").write_text("")
    (data / "link").symlink_to("/etc/passwd")
    for path in (data / "logs" / "access.jsonl", data / "logs", data / "token", data):
        path.chmod(mode_of_all)
    return data


def test_what_was_open_is_closed_and_returned(tmp_path: Path) -> None:
    data = filled(tmp_path / "data", 0o755)
    names = ["data", "logs", "access.jsonl", "token"]
    assert sorted(one.path.name for one in open_to_others(data)) == sorted(names)
    found = close_to_others(data)
    assert sorted(one.path.name for one in found) == sorted(names)
    assert "mode 0755" in str(found[0])
    for path in (data, data / "logs", data / "logs" / "access.jsonl", data / "token"):
        assert mode(path) == 0o700
    assert mode(data / "files") == 0o700
    assert mode(Path("/etc/passwd")) == 0o644
    assert close_to_others(data) == open_to_others(data) == []


def test_files_in_a_closed_directory_are_closed_without_a_report(tmp_path: Path) -> None:
    data = filled(tmp_path / "data", 0o755)
    data.chmod(0o700)
    assert open_to_others(data) == []
    assert close_to_others(data) == []
    assert mode(data / "token") == mode(data / "logs" / "access.jsonl") == 0o700


def test_a_folder_that_is_shared_on_purpose_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    assert [one.path for one in close_to_others(tmp_path)] == [tmp_path]
    assert mode(tmp_path) == 0o1777


def test_a_missing_directory_is_not_open(tmp_path: Path) -> None:
    assert open_to_others(tmp_path / "none") == []
