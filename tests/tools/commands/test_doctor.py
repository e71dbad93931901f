from pathlib import Path

import pytest

from deskhand.recording.settings import RecordingSettings
from deskhand.tools.commands.doctor import LEAST_FREE, room_finding, secrets_finding
from deskhand.tools.secrets.keys import keys_of


def test_the_least_room_is_that_of_the_recorder() -> None:
    assert RecordingSettings().free_to_start == LEAST_FREE


@pytest.mark.parametrize(
    ("free", "status", "room"),
    [
        (LEAST_FREE, "ok", "1.0 GiB free"),
        (5 * LEAST_FREE, "ok", "5.0 GiB free"),
        (LEAST_FREE - 1, "warn", "1.0 GiB free"),
        (1_050_000_000, "warn", "1.0 GiB free"),
    ],
)
def test_a_disk_without_room_for_a_recording_is_a_warning(
    free: int, status: str, room: str
) -> None:
    found = room_finding(Path("/data"), free)
    assert (found.status, found.detail) == (status, f"/data, {room}")
    assert found.mend == ("" if status == "ok" else "below 1 GiB no recording starts")


def test_a_key_in_a_file_is_reported(tmp_path: Path) -> None:
    assert secrets_finding(keys_of(tmp_path, {})).detail == "none is stored yet"
    keys_of(tmp_path, {}).preferred()
    found = secrets_finding(keys_of(tmp_path, {}))
    assert (found.status, "systemd credential deskhand-secrets" in found.mend) == ("warn", True)
    (tmp_path / "deskhand-secrets").write_text("key")
    found = secrets_finding(keys_of(tmp_path, {"CREDENTIALS_DIRECTORY": str(tmp_path)}))
    assert (found.status, found.detail) == (
        "ok",
        "encrypted with the key of the systemd credential",
    )
