import pytest

from deskhand.tools.commands.diagnosis.machine import (
    address_finding,
    clock_finding,
    shared_memory_finding,
    usage_finding,
)

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("total", "status", "detail"),
    [
        (None, "warn", "there is none"),
        (64 * 1024 * 1024, "warn", "67.1 MB"),
        (1024**3, "ok", "1.1 GB"),
    ],
)
def test_little_shared_memory_is_a_warning(total: int | None, status: str, detail: str) -> None:
    found = shared_memory_finding(total)
    assert (found.status, found.detail) == (status, detail)
    assert bool(found.remedy) == (status != "ok")


@pytest.mark.parametrize(
    ("now", "newest", "status", "detail"),
    [
        (0.0, 0.0, "fail", "it shows 1970-01-01 00:00:00 UTC"),
        (NOW, NOW + 7200.0, "warn", "it is 2 h behind the data"),
        (NOW, NOW + 30.0, "ok", "2027-01-15 08:00:00 UTC"),
    ],
)
def test_a_wrong_clock_is_found(now: float, newest: float, status: str, detail: str) -> None:
    found = clock_finding(now, newest)
    assert (found.status, found.detail) == (status, detail)


def test_the_disk_use_is_listed_by_kind() -> None:
    assert usage_finding({}).detail == "nothing is stored yet"
    found = usage_finding({"database": 2_000_000, "logs": 0, "files": 3_000_000_000})
    assert found.detail == "files 3.0 GB, database 2.0 MB"


@pytest.mark.parametrize(
    ("free", "own", "answers", "status", "part"),
    [
        (True, None, (), "ok", "is free"),
        (False, "http://a:1", (), "ok", "control plane runs at http://a:1"),
        (False, None, ("deskhand",), "warn", "another Deskhand"),
        (False, None, (), "warn", "another program"),
    ],
)
def test_our_control_plane_is_distinguished_from_others(
    free: bool, own: str | None, answers: tuple[str, ...], status: str, part: str
) -> None:
    found = address_finding("127.0.0.1:7777", free, own, answers)
    assert found.status == status
    assert part in found.detail
