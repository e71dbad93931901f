import stat
from pathlib import Path

import pytest

from deskhand.tools.control_plane.credentials import load_credentials, read_token
from deskhand.vncbridge.auth.policy import Principal


def test_the_token_is_made_once_and_is_private(tmp_path: Path) -> None:
    file = tmp_path / "token"
    token = read_token(file)
    assert token.startswith("dh_")
    assert read_token(file) == token
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_empty_token_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("\n")
    with pytest.raises(OSError, match="holds no token"):
        read_token(file)


def test_sessions_and_tokens_outlive_a_restart_as_digests(tmp_path: Path) -> None:
    before = load_credentials(tmp_path, "dh_owner")
    one, secret = before.issue("ci", ("run:c1:view",), 60.0)
    cookie = before.sign_in(secret)
    assert cookie is not None
    text = (tmp_path / "sessions.json").read_text()
    assert secret not in text
    assert cookie not in text
    after = load_credentials(tmp_path, "dh_owner")
    assert after.cookie_name == before.cookie_name
    assert after.issued == (one,)
    assert after.by_token(secret) == after.by_cookie(cookie) == Principal("ci", ("run:c1:view",))
    assert after.by_token("dh_owner") == Principal("owner")


@pytest.mark.parametrize("text", ["", '{"instance": ', "[]", '{"sessions": {"a": {"colour": 1}}}'])
def test_a_file_that_cannot_be_read_ends_sessions_and_not_the_start(
    text: str, tmp_path: Path
) -> None:
    file = tmp_path / "sessions.json"
    file.write_text(text)
    found = load_credentials(tmp_path, "dh_owner")
    assert found.by_token("dh_owner") == Principal("owner")
    # What is written anew is read again.
    assert load_credentials(tmp_path, "dh_owner").cookie_name == found.cookie_name
