import stat
from pathlib import Path

import pytest

from deskhand.tools.store.errors import BadSecret, UnknownRow
from deskhand.tools.store.secrets import Secret, SecretStore

HORSE = "correct horse"


def test_a_secret_is_given_to_its_chats_and_to_nobody_else() -> None:
    vault = SecretStore()
    vault.put(Secret("mail", HORSE, ("a",)))
    vault.put(Secret("bank", "battery staple"))
    assert vault.given(["a", "b"]) == ["bank", "mail"]
    assert vault.given(["b"]) == ["bank"]
    assert vault.value("mail", ["child", "a"]) == HORSE
    for name, chats in (("mail", ["b"]), ("other", ["a"])):
        with pytest.raises(UnknownRow):
            vault.value(name, chats)


def test_a_secret_may_be_for_the_pages_of_some_domains() -> None:
    vault = SecretStore()
    vault.put(Secret("mail", HORSE, ("a",), ("mail.example", "localhost")))
    vault.put(Secret("bank", "battery staple"))
    assert vault.domains("mail", ["a"]) == ("mail.example", "localhost")
    assert vault.domains("bank", ["a"]) == ()
    with pytest.raises(UnknownRow):
        vault.domains("mail", ["b"])


def test_a_file_of_an_earlier_version_binds_nothing_to_domains(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    path.write_text('[{"name": "mail", "value": "correct horse", "chats": null}]')
    assert SecretStore(path).listed() == [Secret("mail", HORSE)]


@pytest.mark.parametrize("text", ["", "[{", "3", '[{"name": "mail"}]', '["mail"]'])
def test_a_file_that_cannot_be_read_is_told_and_not_replaced(text: str, tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    file.write_text(text)
    with pytest.raises(BadSecret, match="cannot be read"):
        SecretStore(file)
    assert file.read_text() == text


def test_known_values_are_masked_until_they_are_taken_back() -> None:
    vault = SecretStore()
    assert vault.hide(HORSE) == HORSE
    vault.put(Secret("mail", HORSE))
    assert vault.values == [HORSE]
    assert vault.hide(f"say {HORSE}!") == "say ••••!"
    vault.put(Secret("mail", "battery staple"))
    assert vault.hide(f"{HORSE}, battery staple") == f"{HORSE}, ••••"
    vault.remove("mail")
    assert vault.hide("battery staple") == "battery staple"
    with pytest.raises(UnknownRow, match="no secret has the id mail"):
        vault.remove("mail")


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
    vault = SecretStore(tmp_path / "secrets.json")
    with pytest.raises(BadSecret) as refused:
        vault.put(secret)
    assert secret.value not in str(refused.value)
    assert vault.listed() == []
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_neither_kept_nor_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    vault = SecretStore(path)
    vault.put(Secret("mail", HORSE))
    (tmp_path / "secrets.json.new").mkdir()
    with pytest.raises(IsADirectoryError):
        vault.put(Secret("bank", "battery staple"))
    with pytest.raises(IsADirectoryError):
        vault.remove("mail")
    assert vault.listed() == SecretStore(path).listed() == [Secret("mail", HORSE)]
    assert vault.hide(f"{HORSE}, battery staple") == "••••, battery staple"
