import pytest

from deskhand.desktop.git.credentials import (
    LONGEST,
    MOST,
    Credential,
    GitCredentials,
    credential,
    server_in,
)
from deskhand.desktop.git.errors import InvalidCredential


def test_a_server_has_one_credential() -> None:
    known = GitCredentials()
    known.put(credential("https://Host/any/path", "me", "one"))
    known.put(credential("https://host", "me", "two"))
    known.put(credential("http://a:81", "you", "three"))
    assert known.find("https://host") == Credential("https://host", "me", "two")
    assert [one.server for one in known.all()] == ["http://a:81", "https://host"]
    assert known.remove("https://host")
    assert not known.remove("https://host")
    assert known.find("https://host") is None


def test_a_password_is_not_shown() -> None:
    assert "hush" not in repr(credential("https://host", "me", "hush"))


@pytest.mark.parametrize(
    ("url", "username", "password"),
    [
        ("host", "me", "word"),
        ("https://", "me", "word"),
        ("see 'https://host'", "me", "word"),
        ("me@host's password: ", "me", "word"),
        ("https://host", "", "word"),
        ("https://host", "me", ""),
        ("https://host", "me\nyou", "word"),
        ("https://host", "me", "two\rlines"),
        ("https://host", "me", "x" * (LONGEST + 1)),
    ],
)
def test_what_git_could_not_take_is_refused(url: str, username: str, password: str) -> None:
    with pytest.raises(InvalidCredential) as refused:
        credential(url, username, password)
    assert not password or password not in str(refused.value)


def test_there_are_only_so_many() -> None:
    known = GitCredentials()
    for number in range(MOST):
        known.put(credential(f"https://h{number}", "me", "word"))
    known.put(credential("https://h0", "me", "other"))
    with pytest.raises(InvalidCredential):
        known.put(credential("https://one.more", "me", "word"))


def test_an_address_names_its_server() -> None:
    assert server_in("ssh://git@Host:22/x.git") == "ssh://host:22"
