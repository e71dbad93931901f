import stat
from pathlib import Path

import pytest

from deskhand.tools.store.errors import BadSecret, UnknownRow
from deskhand.tools.store.secrets import Secret, SecretStore

HORSE = "correct horse"


def test_a_secret_is_returned_only_to_its_chats() -> None:
    secret_store = SecretStore()
    secret_store.put(Secret("mail", HORSE, ("a",)))
    secret_store.put(Secret("bank", "battery staple"))
    assert secret_store.given(["a", "b"]) == ["bank", "mail"]
    assert secret_store.given(["b"]) == ["bank"]
    assert secret_store.value("mail", ["child", "a"]) == HORSE
    for name, chats in (("mail", ["b"]), ("other", ["a"])):
        with pytest.raises(UnknownRow):
            secret_store.value(name, chats)


def test_a_secret_may_be_for_the_pages_of_some_domains() -> None:
    secret_store = SecretStore()
    secret_store.put(Secret("mail", HORSE, ("a",), ("mail.example", "localhost")))
    secret_store.put(Secret("bank", "battery staple"))
    assert secret_store.domains("mail", ["a"]) == ("mail.example", "localhost")
    assert secret_store.domains("bank", ["a"]) == ()
    with pytest.raises(UnknownRow):
        secret_store.domains("mail", ["b"])


def test_a_file_of_an_earlier_version_binds_nothing_to_domains(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    path.write_text('[{"name": "mail", "value": "correct horse", "chats": null}]')
    assert SecretStore(path).listed() == [Secret("mail", HORSE)]


@pytest.mark.parametrize("text", ["", "[{", "3", '[{"name": "mail"}]', '["mail"]'])
def test_a_file_that_cannot_be_read_is_an_error_and_not_replaced(text: str, tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    file.write_text(text)
    with pytest.raises(BadSecret, match="cannot be read"):
        SecretStore(file)
    assert file.read_text() == text


def test_known_values_are_masked_until_they_are_taken_back() -> None:
    secret_store = SecretStore()
    assert secret_store.hide(HORSE) == HORSE
    secret_store.put(Secret("mail", HORSE))
    assert secret_store.values == [HORSE]
    assert secret_store.hide(f"say {HORSE}!") == "say ••••!"
    secret_store.put(Secret("mail", "battery staple"))
    assert secret_store.hide(f"{HORSE}, battery staple") == f"{HORSE}, ••••"
    secret_store.remove("mail")
    assert secret_store.hide("battery staple") == "battery staple"
    with pytest.raises(UnknownRow, match="no secret has the id mail"):
        secret_store.remove("mail")


def test_secrets_outlive_a_restart_in_a_file_of_their_owner(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    first = SecretStore(path)
    assert not path.exists()
    first.put(Secret("mail", HORSE, ("a",)))
    first.put(Secret("bank", "Käse ✓", None, ("bank.example",)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SecretStore(path).listed() == first.listed()
    assert SecretStore(path).hide("Käse ✓") == "••••"


@pytest.mark.parametrize(
    "secret",
    [Secret("", HORSE), Secret("a b", HORSE), Secret("../x", HORSE), Secret("pin", "123")]
    + [Secret("mail", HORSE, None, domains) for domains in ((), ("",), ("ok", "https://a/"))],
)
def test_what_cannot_be_kept_or_hidden_is_refused(secret: Secret, tmp_path: Path) -> None:
    secret_store = SecretStore(tmp_path / "secrets.json")
    with pytest.raises(BadSecret) as refused:
        secret_store.put(secret)
    assert secret.value not in str(refused.value)
    assert secret_store.listed() == []
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_neither_kept_nor_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    secret_store = SecretStore(path)
    secret_store.put(Secret("mail", HORSE))
    (tmp_path / "secrets.json.new").mkdir()
    with pytest.raises(IsADirectoryError):
        secret_store.put(Secret("bank", "battery staple"))
    with pytest.raises(IsADirectoryError):
        secret_store.remove("mail")
    assert secret_store.listed() == SecretStore(path).listed() == [Secret("mail", HORSE)]
    assert secret_store.hide(f"{HORSE}, battery staple") == "••••, battery staple"
