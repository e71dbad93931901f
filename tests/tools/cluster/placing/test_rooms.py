"""Ray is used with a token only; tests/cluster/test_rays_rooms.py tests its reservations."""

from pathlib import Path

import pytest

from deskhand.tools.cluster.placing.errors import RayRefused
from deskhand.tools.cluster.placing.rooms import Rooms

TOKEN = {"RAY_AUTH_MODE": "token"}


def environment(path: Path, text: str = "secret", mode: int = 0o600) -> dict[str, str]:
    path.write_text(text)
    path.chmod(mode)
    return TOKEN | {"RAY_AUTH_TOKEN_PATH": str(path)}


def test_a_file_that_only_its_owner_reads_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "token"
    Rooms("127.0.0.1:6379", environment(path))


def test_what_is_wrong_with_a_token_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "token"
    for given, text in [
        ({}, "set RAY_AUTH_MODE=token"),
        ({"RAY_AUTH_MODE": "disabled"}, "set RAY_AUTH_MODE=token"),
        (TOKEN | {"RAY_AUTH_TOKEN": "secret"}, "others can read RAY_AUTH_TOKEN"),
        (TOKEN | {"RAY_AUTH_TOKEN_PATH": str(tmp_path / "none")}, "No such file or directory"),
        (environment(path, mode=0o640), f"run chmod 600 {path}"),
        (environment(tmp_path / "empty", text="\n"), "is missing in"),
    ]:
        with pytest.raises(RayRefused, match=text) as refused:
            Rooms("127.0.0.1:6379", given)
        assert "\n" not in str(refused.value)
