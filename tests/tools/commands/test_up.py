"""What keeps a control plane from starting."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.system.services import DESKHAND

LIMIT = 60.0


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        (
            {"DESKHAND_CLUSTER": "127.0.0.1:6379"},
            "cluster: certificates, database and store are needed, too, by a control plane",
        ),
        (
            {"DESKHAND_DATABASE": "postgresql://ann@127.0.0.1:9/d?password=s3cret"},
            "database: errors and logs would show password of the URL's query; give PGPASSWORD",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    tmp_path: Path, environment: dict[str, str], reason: str
) -> None:
    ended = subprocess.run(
        [DESKHAND, "up", "--data-dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0"],
        env={**os.environ, **environment},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (4, "")
    assert ended.stderr.startswith(f"deskhand: {reason}")
    assert "s3cret" not in ended.stderr
    assert not (tmp_path / "data").exists()
