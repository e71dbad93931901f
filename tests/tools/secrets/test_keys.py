import stat
from pathlib import Path

from deskhand.tools.secrets.keys import (
    CredentialSource,
    FileSource,
    KeyringSource,
    StoreKeys,
    keys_of,
)

SECRET_TOOL = """#!/bin/sh
case $1 in
  store) cat > {kept} ;;
  lookup) cat {kept} ;;
esac
"""


def keyring(folder: Path, script: str = SECRET_TOOL) -> KeyringSource:
    program = folder / "secret-tool"
    program.write_text(script.format(kept=folder / "kept"))
    program.chmod(0o755)
    return KeyringSource(str(program), {"PATH": "/usr/bin:/bin"})


def test_the_credential_of_systemd_precedes_all(tmp_path: Path) -> None:
    (tmp_path / "deskhand-secrets").write_bytes(b"of systemd")
    keys = keys_of(tmp_path, {"CREDENTIALS_DIRECTORY": str(tmp_path)})
    assert (keys.preferred().source, keys.preferred().secret) == (
        "systemd credential",
        b"of systemd",
    )
    assert not (tmp_path / "secrets.key").exists()


def test_without_credential_and_keyring_a_file_of_the_owner_has_the_key(tmp_path: Path) -> None:
    keys = keys_of(tmp_path, {})
    assert keys.existing() is None
    key = keys.preferred()
    assert key.source == "file"
    assert keys.existing() == keys.preferred() == keys.by_id(key.id) == key
    assert keys.by_id("other") is None
    assert stat.S_IMODE((tmp_path / "secrets.key").stat().st_mode) == 0o600


def test_the_keyring_keeps_a_key(tmp_path: Path) -> None:
    source = keyring(tmp_path)
    assert source.read() is None
    keys = StoreKeys([CredentialSource.loaded(""), source, FileSource(tmp_path / "secrets.key")])
    assert keys.preferred().source == "system keyring"
    assert keys.preferred().secret == source.read()
    assert not (tmp_path / "secrets.key").exists()


def test_a_keyring_that_keeps_nothing_is_passed_over(tmp_path: Path) -> None:
    locked = keyring(tmp_path, "#!/bin/sh\nexit 1\n")
    for source in (locked, KeyringSource("", {}), KeyringSource("/does/not/exist", {})):
        keys = StoreKeys([source, FileSource(tmp_path / "secrets.key")])
        assert keys.preferred().source == "file"
