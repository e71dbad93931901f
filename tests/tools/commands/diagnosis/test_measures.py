import socket
from pathlib import Path

from deskhand.tools.commands.diagnosis.measures import (
    is_free,
    names_at,
    newest_change,
    total_space,
    usage,
)
from tests.tools.commands.fake_plane import fake_plane


def test_the_space_of_a_folder_is_that_of_its_file_system(tmp_path: Path) -> None:
    assert (total_space(tmp_path) or 0) > 0
    assert total_space(tmp_path / "none") is None


def test_the_use_is_counted_by_kind(tmp_path: Path) -> None:
    assert usage(tmp_path / "none") == {}
    assert newest_change(tmp_path) == 0.0
    (tmp_path / "files" / "ab").mkdir(parents=True)
    for name in ("files/ab/video", "deskhand.db", "deskhand.db-wal", "token"):
        (tmp_path / name).write_bytes(bytes(5000))
    found = usage(tmp_path)
    assert set(found) == {"files and recordings", "database", "other"}
    assert found["database"] == 2 * found["other"] > 0
    assert newest_change(tmp_path) > 0.0


def test_an_address_in_use_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
        assert not is_free("127.0.0.1", port)
    assert is_free("127.0.0.1", 0)


def test_what_answers_as_deskhand_does_is_named(tmp_path: Path) -> None:
    with fake_plane(tmp_path) as plane:
        plane.answer("GET", "/healthz", {"status": "ok"})
        assert names_at(f"{plane.url}/healthz") == ("deskhand",)
        plane.answer("GET", "/healthz", ["other"])
        assert names_at(f"{plane.url}/healthz") == ()
    assert names_at(f"{plane.url}/healthz") == ()
