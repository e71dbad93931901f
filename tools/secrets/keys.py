"""Key of the secret store: from a systemd credential, the system keyring, or a file of mode 0600.

The first of these sources that has a key, or can keep a new one, is used:

1. the systemd credential ``deskhand-secrets`` (``LoadCredentialEncrypted=``, systemd.exec(5)), in
   the directory that ``$CREDENTIALS_DIRECTORY`` names;
2. the keyring of the session (Secret Service), by ``secret-tool`` of libsecret, if there is one;
3. ``secrets.key`` in the data directory. It protects backups of the database and of the encrypted
   file, but not from a reader of the whole directory; ``deskhand doctor`` reports it.
"""

import os
import secrets
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from deskhand.tools.store.private_file import write_private

from .encryption import key_id

CREDENTIAL = "deskhand-secrets"
KEY_FILE = "secrets.key"
FILE = "file"
"""Name of the source that protects least."""
KEYRING = "system keyring"
_KEYRING_SECONDS = 5.0
_ATTRIBUTES = ("application", "deskhand", "purpose", "secret-store")


class KeySource(Protocol):
    """A place that may have the key."""

    @property
    def name(self) -> str:
        """Name of the source for people."""

    def read(self) -> bytes | None:
        """Return the secret of the key, ``None`` if there is none."""

    def create(self) -> bytes | None:
        """Keep a new key and return its secret, ``None`` if the source cannot keep one."""


@dataclass(frozen=True)
class CredentialSource:
    """The credential that systemd passes to the unit; only an administrator can create it."""

    content: bytes | None
    name: str = "systemd credential"

    @classmethod
    def loaded(cls, directory: str) -> "CredentialSource":
        """Read the credential, which the user of the unit can do and others cannot."""
        with suppress(OSError):
            return cls(Path(directory, CREDENTIAL).read_bytes() or None if directory else None)
        return cls(None)

    def read(self) -> bytes | None:
        """Return the content of the credential."""
        return self.content

    def create(self) -> bytes | None:
        """Return ``None``: systemd alone writes credentials."""
        return None


@dataclass(frozen=True)
class KeyringSource:
    """The keyring of the session, by ``program``; empty if there is no keyring."""

    program: str
    environment: Mapping[str, str]
    name: str = KEYRING

    def read(self) -> bytes | None:
        """Return the secret in the keyring."""
        return self._run("lookup", *_ATTRIBUTES) or None

    def create(self) -> bytes | None:
        """Store a new secret."""
        secret = _new_secret()
        self._run("store", "--label=Deskhand secret store", *_ATTRIBUTES, given=secret)
        # Read again: a keyring that is locked or absent keeps nothing.
        return secret if self.read() == secret else None

    def _run(self, *arguments: str, given: bytes = b"") -> bytes:
        if not self.program:
            return b""
        with suppress(OSError, subprocess.SubprocessError):
            return subprocess.run(
                [self.program, *arguments],
                input=given,
                capture_output=True,
                env=dict(self.environment),
                timeout=_KEYRING_SECONDS,
                check=True,
            ).stdout
        return b""


@dataclass(frozen=True)
class FileSource:
    """A file of mode 0600 in the data directory."""

    path: Path
    name: str = FILE

    def read(self) -> bytes | None:
        """Return the content of the file."""
        with suppress(FileNotFoundError):
            return self.path.read_bytes().strip() or None
        return None

    def create(self) -> bytes | None:
        """Write a new file."""
        secret = _new_secret()
        write_private(self.path, secret.decode() + "\n")
        return secret


@dataclass(frozen=True)
class StoreKey:
    """A key and the name of its source."""

    source: str
    secret: bytes

    @property
    def id(self) -> str:
        """Id of the key, which the encrypted file names."""
        return key_id(self.secret)


class StoreKeys:
    """The keys of one data directory, the preferred source first."""

    def __init__(self, sources: Sequence[KeySource]) -> None:
        self._sources = sources

    def existing(self) -> StoreKey | None:
        """Return the preferred key that exists."""
        return next(iter(self._existing()), None)

    def preferred(self) -> StoreKey:
        """Return the preferred key; create one at the first use.

        Raises:
            OSError: If no source can keep one.
        """
        for source in self._sources:
            secret = source.read() or source.create()
            if secret is not None:
                return StoreKey(source.name, secret)
        raise OSError("no key for the secret store can be kept")

    def by_id(self, wanted: str) -> StoreKey | None:
        """Return the key with an id, from whatever source."""
        return next((key for key in self._existing() if key.id == wanted), None)

    def _existing(self) -> list[StoreKey]:
        found = [(source.name, source.read()) for source in self._sources]
        return [StoreKey(name, secret) for name, secret in found if secret is not None]


def keys_of(data_dir: Path, environment: Mapping[str, str]) -> StoreKeys:
    """Return the keys of a data directory; ``environment`` is that of the process."""
    # Without a session bus there is no keyring, and ``secret-tool`` would start a bus of its own.
    has_bus = bool(environment.get("DBUS_SESSION_BUS_ADDRESS"))
    program = shutil.which("secret-tool", path=environment.get("PATH", os.defpath))
    return StoreKeys(
        (
            CredentialSource.loaded(environment.get("CREDENTIALS_DIRECTORY", "")),
            KeyringSource(program or "" if has_bus else "", environment),
            FileSource(data_dir / KEY_FILE),
        )
    )


def _new_secret() -> bytes:
    return secrets.token_hex(32).encode()
