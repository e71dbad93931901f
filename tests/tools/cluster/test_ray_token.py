"""The token of Ray."""

from pathlib import Path

import pytest

from deskhand.tools.cluster.ray_token import token_file, token_problem

TOKEN = {"RAY_AUTH_MODE": "token"}


def of(path: Path, text: str = "secret", mode: int = 0o600) -> dict[str, str]:
    path.write_text(text)
    path.chmod(mode)
    return TOKEN | {"RAY_AUTH_TOKEN_PATH": str(path)}


def test_a_file_that_only_its_owner_reads_is_accepted(tmp_path: Path) -> None:
    assert token_problem(of(tmp_path / "token")) == ""


def test_without_a_path_the_file_is_that_of_ray() -> None:
    assert token_file({}) == Path.home() / ".ray" / "auth_token"
    assert token_file({"HOME": "/h"}) == Path("/h/.ray/auth_token")


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_file_that_others_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    text = f"others may read the token of Ray; run chmod 600 {path}"
    assert token_problem(of(path, mode=mode)) == text


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    empty, none = tmp_path / "empty", tmp_path / "none"
    for given, text in [
        ({}, "set RAY_AUTH_MODE=token"),
        (TOKEN | {"RAY_AUTH_TOKEN": "secret"}, "others can read RAY_AUTH_TOKEN"),
        (TOKEN | {"RAY_AUTH_TOKEN_PATH": str(none)}, f"{none}: No such file or directory"),
        (of(empty, "\n"), f"is missing in {empty}"),
    ]:
        assert text in token_problem(given)
