from pathlib import Path

import pytest

from deskhand.recording.free_space import GIB, DiskSpace
from deskhand.tools.agents.providers.environment.hosts import HostAnswer
from deskhand.tools.commands.diagnosis.doctor import (
    data_finding,
    dialects_finding,
    host_findings,
    key_finding,
    room_finding,
)


@pytest.mark.parametrize(
    ("free", "status", "room"),
    [
        (GIB, "ok", "1.0 GiB free"),
        (5 * GIB, "ok", "5.0 GiB free"),
        (GIB - 1, "warn", "1.0 GiB free"),
        (1_050_000_000, "warn", "1.0 GiB free"),
    ],
)
def test_a_disk_without_room_for_a_recording_is_a_warning(
    free: int, status: str, room: str
) -> None:
    found = room_finding(Path("/data"), DiskSpace(free, 100 * GIB))
    assert (found.status, found.detail) == (status, f"/data, {room}")
    refused = "below 1024 MiB no recording starts, and uploads and writes are refused"
    assert found.remedy == ("" if status == "ok" else refused)


@pytest.mark.parametrize(("speak", "listed"), [((), "none"), (("osworld", "cdp"), "osworld, cdp")])
def test_the_dialects_of_new_desktops_are_listed(speak: tuple[str, ...], listed: str) -> None:
    assert dialects_finding(speak).detail == f"{listed} on new desktops"


def test_a_data_directory_that_cannot_be_used_is_a_failure(tmp_path: Path) -> None:
    assert data_finding(tmp_path / "data").status != "fail"
    file = tmp_path / "file"
    file.write_text("no folder")
    found = data_finding(file)
    assert (found.status, found.remedy) == ("fail", "give another with --data-dir")


def test_a_host_that_does_not_answer_is_a_warning() -> None:
    works, broken = host_findings([HostAnswer("a.example"), HostAnswer("b.example", "no route")])
    assert (works.status, works.detail) == ("ok", "a.example answers")
    assert (broken.status, broken.detail) == ("warn", "b.example does not answer: no route")


def test_a_machine_without_a_key_for_a_model_is_a_warning() -> None:
    assert key_finding(["OPENAI_API_KEY"]).detail == "set: OPENAI_API_KEY"
    found = key_finding([])
    assert (found.status, "ANTHROPIC_API_KEY" in found.remedy) == ("warn", True)
