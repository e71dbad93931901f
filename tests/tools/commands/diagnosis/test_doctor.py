from pathlib import Path

import pytest

from deskhand.recording.free_space import GIB, DiskSpace
from deskhand.tools.commands.diagnosis.doctor import dialects_finding, room_finding, secrets_finding
from deskhand.tools.secrets.keys import keys_of


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


def test_a_key_in_a_file_is_reported(tmp_path: Path) -> None:
    assert secrets_finding(keys_of(tmp_path, {})).detail == "none is stored yet"
    keys_of(tmp_path, {}).preferred()
    found = secrets_finding(keys_of(tmp_path, {}))
    assert (found.status, "systemd credential deskhand-secrets" in found.remedy) == ("warn", True)
    (tmp_path / "deskhand-secrets").write_text("key")
    found = secrets_finding(keys_of(tmp_path, {"CREDENTIALS_DIRECTORY": str(tmp_path)}))
    assert (found.status, found.detail) == (
        "ok",
        "encrypted with the key of the systemd credential",
    )


@pytest.mark.parametrize(("speak", "listed"), [((), "none"), (("cua", "cdp"), "cua, cdp")])
def test_the_dialects_of_new_desktops_are_listed(speak: tuple[str, ...], listed: str) -> None:
    assert dialects_finding(speak).detail == f"{listed} on new desktops"
