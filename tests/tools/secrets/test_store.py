import json
import stat
from pathlib import Path

import pytest

from deskhand.tools.secrets.keys import FileSource, StoreKeys
from deskhand.tools.secrets.secret import Secret
from deskhand.tools.secrets.store import SecretStore
from deskhand.tools.store.errors import BadSecret, UnknownRow

HORSE = "correct horse"
MAIL = Secret("mail", HORSE, ("a",), ("mail.example", "localhost"))
BANK = Secret("bank", "battery staple", anywhere=True)


class Credential:
    """A source whose key a test sets."""

    name = "systemd credential"

    def __init__(self, secret: bytes | None = b"credential") -> None:
        self.secret = secret

    def read(self) -> bytes | None:
        return self.secret

    def create(self) -> bytes | None:
        return None


def keys(directory: Path, credential: Credential | None = None) -> StoreKeys:
    return StoreKeys([*([credential] if credential else []), FileSource(directory / "secrets.key")])


def opened(directory: Path, credential: Credential | None = None) -> SecretStore:
    return SecretStore(directory, keys(directory, credential))


def test_a_secret_is_returned_only_to_its_chats() -> None:
    secret_store = SecretStore()
    secret_store.put(MAIL)
    secret_store.put(BANK)
    assert secret_store.given(["a", "b"]) == [BANK, MAIL]
    assert secret_store.given(["child", "a"]) == [BANK, MAIL]
    assert secret_store.given(["b"]) == [BANK]


def test_known_values_are_masked_until_they_are_taken_back() -> None:
    secret_store = SecretStore()
    assert secret_store.hide(HORSE) == HORSE
    secret_store.put(MAIL)
    assert [one.value for one in secret_store.listed()] == [HORSE]
    assert secret_store.hide(f"say {HORSE}!") == "say ••••!"
    secret_store.put(Secret("mail", "battery staple", anywhere=True))
    assert secret_store.hide(f"{HORSE}, battery staple") == f"{HORSE}, ••••"
    secret_store.remove("mail")
    assert secret_store.hide("battery staple") == "battery staple"
    with pytest.raises(UnknownRow, match="no secret has the id mail"):
        secret_store.remove("mail")


def test_a_chat_is_masked_only_for_the_values_that_it_was_given() -> None:
    secret_store = SecretStore()
    secret_store.put(MAIL)
    secret_store.put(BANK)
    text = f"{HORSE}, battery staple"
    assert secret_store.mask(["b"])(text).text == f"{HORSE}, ••••"
    assert secret_store.mask(["child", "a"])(text).found == {"mail": 1, "bank": 1}
    secret_store.remove("bank")
    assert secret_store.mask(["b"])(text).text == text


def test_secrets_outlive_a_restart_in_an_encrypted_file_of_their_owner(tmp_path: Path) -> None:
    first = opened(tmp_path)
    assert list(tmp_path.iterdir()) == []
    first.put(MAIL)
    first.put(Secret("bank", "Käse ✓", None, ("bank.example",), without_execute=True))
    for name in ("secrets.enc", "secrets.key"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert HORSE not in (tmp_path / "secrets.enc").read_text()
    assert opened(tmp_path).listed() == first.listed()
    assert opened(tmp_path).hide("Käse ✓") == "••••"


def test_a_plain_file_of_an_earlier_version_is_encrypted_once(tmp_path: Path) -> None:
    plain = tmp_path / "secrets.json"
    old = [
        {"name": "mail", "value": HORSE, "chats": None},
        {"name": "bank", "value": "battery staple", "chats": ["a"], "domains": ["bank.example"]},
    ]
    plain.write_text(json.dumps(old))
    secret_store = opened(tmp_path)
    assert not plain.exists()
    assert {one.name: one.state for one in secret_store.listed()} == {
        "bank": "ready",
        "mail": "needs_domains",
    }
    assert secret_store.hide(HORSE) == "••••"
    assert opened(tmp_path).listed() == secret_store.listed()
    assert not [one for one in tmp_path.iterdir() if HORSE.encode() in one.read_bytes()]


def test_the_plain_file_stays_if_the_encrypted_one_cannot_be_written(tmp_path: Path) -> None:
    plain = tmp_path / "secrets.json"
    plain.write_text(json.dumps([{"name": "mail", "value": HORSE, "chats": None}]))
    (tmp_path / "secrets.enc.new").mkdir()
    with pytest.raises(IsADirectoryError):
        opened(tmp_path)
    assert HORSE in plain.read_text()


def test_a_better_key_replaces_the_file_of_the_key(tmp_path: Path) -> None:
    opened(tmp_path).put(BANK)
    before = (tmp_path / "secrets.enc").read_text()
    credential = Credential()
    assert opened(tmp_path, credential).listed() == [BANK]
    assert (tmp_path / "secrets.enc").read_text() != before
    (tmp_path / "secrets.key").unlink()
    assert opened(tmp_path, credential).listed() == [BANK]


def test_without_its_key_the_file_is_an_error_and_not_replaced(tmp_path: Path) -> None:
    credential = Credential()
    opened(tmp_path, credential).put(BANK)
    before = (tmp_path / "secrets.enc").read_text()
    for other in (None, Credential(b"another"), Credential(None)):
        with pytest.raises(BadSecret, match="its key is missing"):
            opened(tmp_path, other)
    assert (tmp_path / "secrets.enc").read_text() == before


@pytest.mark.parametrize("text", ["", "[{", "3", '[{"name": "mail"}]', '["mail"]'])
def test_a_file_that_cannot_be_read_is_an_error_and_not_replaced(text: str, tmp_path: Path) -> None:
    for name in ("secrets.json", "secrets.enc"):
        file = tmp_path / name
        file.write_text(text)
        with pytest.raises(BadSecret, match="cannot be read"):
            opened(tmp_path)
        assert file.read_text() == text


@pytest.mark.parametrize("secret", [Secret("", HORSE, anywhere=True), Secret("mail", HORSE)])
def test_what_cannot_be_kept_is_refused(secret: Secret, tmp_path: Path) -> None:
    secret_store = opened(tmp_path)
    with pytest.raises(BadSecret):
        secret_store.put(secret)
    with pytest.raises(BadSecret):
        secret_store.put(Secret("pin", "123", None, ("a.example",)))
    assert secret_store.listed() == []
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_neither_kept_nor_taken_back(tmp_path: Path) -> None:
    secret_store = opened(tmp_path)
    secret_store.put(MAIL)
    (tmp_path / "secrets.enc.new").mkdir()
    with pytest.raises(IsADirectoryError):
        secret_store.put(BANK)
    with pytest.raises(IsADirectoryError):
        secret_store.remove("mail")
    assert secret_store.listed() == opened(tmp_path).listed() == [MAIL]
    assert secret_store.hide(f"{HORSE}, battery staple") == "••••, battery staple"


def test_a_seed_outlives_a_restart_with_its_kind(tmp_path: Path) -> None:
    seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    address = f"otpauth://totp/mail?secret={seed}"
    first = opened(tmp_path)
    first.put(Secret("code", address, None, ("mail.example",), kind="totp", any_field=True))
    assert seed not in (tmp_path / "secrets.enc").read_text()
    assert opened(tmp_path).listed() == first.listed()
    with pytest.raises(BadSecret, match="has no seed"):
        first.put(Secret("code", "otpauth://totp/mail", None, ("mail.example",), kind="totp"))
    assert opened(tmp_path).listed() == first.listed()
