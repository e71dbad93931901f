"""The secrets of one data directory, in an encrypted file, and their masks in texts.

Masks cover the values of the present: a removed secret is not masked any more, while texts that
were stored masked stay so. A change is written to the disk before it takes effect. A value that
could not be stored must not become usable, or it would be unknown, and shown, after the next start.

The file is encrypted with a key from ``keys``. At the start, a file of an earlier version, which
has the values in plain text, is replaced by an encrypted one; so is a file that was encrypted with
another key than the preferred one.
"""

import json
import logging
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deskhand.desktop.errors import InvalidSecret
from deskhand.desktop.secrets.redaction import MOST_CODES, SecretRedactor
from deskhand.tools.store.errors import BadSecret, UnknownRow
from deskhand.tools.store.private_file import write_private

from .encryption import decrypted, encrypted, key_of
from .keys import StoreKeys
from .masking import ValueMask
from .secret import Secret, check

log = logging.getLogger(__name__)
NEEDS_DOMAINS = 'cannot be typed: store it again with domains, or with "anywhere": true'
ENCRYPTED, PLAIN = "secrets.enc", "secrets.json"
"""Names of the file, now and in earlier versions."""


class SecretStore:
    """The secrets of one data directory; without a directory, an empty store in memory.

    The methods may be called from any thread, as values and redactor are replaced as a whole.
    """

    def __init__(self, directory: Path | None = None, keys: StoreKeys | None = None) -> None:
        """Read the secrets of ``directory``; with a directory, ``keys`` are needed.

        Raises:
            BadSecret: If the file cannot be read or decrypted.
        """
        self._directory = directory
        self.keys = keys or StoreKeys(())
        """The keys with which they are encrypted."""
        self._secrets: Mapping[str, Secret] = {}
        self._redactor = SecretRedactor()
        self._masks: dict[frozenset[str], ValueMask] = {}
        self._codes: deque[tuple[str, str]] = deque(maxlen=MOST_CODES)
        if directory is not None and keys is not None:
            self._open(directory, keys)

    def listed(self) -> Sequence[Secret]:
        """Return all secrets by name; a caller that publishes them must leave out the values."""
        return [self._secrets[name] for name in sorted(self._secrets)]

    def put(self, secret: Secret) -> None:
        """Store a secret, or replace the value and the rules of the one with its name.

        Raises:
            BadSecret: If its name, value or domains cannot be used.
        """
        check(secret)
        self._keep([*(one for one in self.listed() if one.name != secret.name), secret])

    def remove(self, name: str) -> None:
        """Remove a secret; texts that were written before stay masked.

        Raises:
            UnknownRow: If no secret has that name.
        """
        if name not in self._secrets:
            raise UnknownRow("secret", name)
        self._keep([one for one in self.listed() if one.name != name])

    def given(self, chats: Collection[str]) -> Sequence[Secret]:
        """Return the secrets that were given to a chat.

        ``chats`` are the id of the chat and those of its ancestors.
        """
        return [one for one in self.listed() if one.is_given(chats)]

    def mask_code(self, name: str, code: str) -> None:
        """Mask a one-time code of a secret, too; of all codes the last `MOST_CODES` are masked."""
        self._codes.append((name, code))
        self._take(self.listed(), redactor_for(self.listed()))

    def hide(self, text: str) -> str:
        """Return a text with every known value masked, for logs and recordings."""
        return self._redactor(text)

    def mask(self, chats: Collection[str]) -> ValueMask:
        """Return the mask of the values that were given to a chat; ``chats`` as in `given`."""
        given = {one.name: (*one.masked, *self._codes_of(one.name)) for one in self.given(chats)}
        masks, names = self._masks, frozenset(given)
        if names not in masks:
            masks[names] = ValueMask(given)
        return masks[names]

    def replace(self, secrets: Sequence[Secret]) -> None:
        """Use other secrets from now on, which are stored elsewhere.

        Raises:
            BadSecret: If one cannot be masked.
        """
        self._take(secrets, redactor_for(secrets))

    def remove_file(self) -> None:
        """Remove the encrypted file, whose secrets are stored elsewhere now."""
        if self._directory is not None:
            (self._directory / ENCRYPTED).unlink(missing_ok=True)

    def _open(self, directory: Path, keys: StoreKeys) -> None:
        path, plain = directory / ENCRYPTED, directory / PLAIN
        if path.exists():
            known, is_current = _decrypted(path, keys)
        elif plain.exists():
            known, is_current = _parsed(plain, plain.read_text(encoding="utf-8")), False
        else:
            return
        self._take(known, redactor_for(known))
        if not is_current:
            self._write(directory, known)
        # Only now: a crash in between must not lose the values.
        plain.unlink(missing_ok=True)
        for secret in self.listed():
            if secret.state == "needs_domains":
                log.warning("the secret %s %s", secret.name, NEEDS_DOMAINS)

    def _keep(self, secrets: Sequence[Secret]) -> None:
        """Write the secrets to the disk, then use them; a failure changes nothing."""
        # Built first, as it refuses values that cannot be masked: these must not reach the disk.
        redactor = redactor_for(secrets)
        if self._directory is not None:
            self._write(self._directory, secrets)
        self._take(secrets, redactor)

    def _write(self, directory: Path, secrets: Sequence[Secret]) -> None:
        content = encrypted(text_of(secrets), self.keys.preferred().secret)
        write_private(directory / ENCRYPTED, content)

    def _take(self, secrets: Sequence[Secret], redactor: SecretRedactor) -> None:
        self._secrets = {secret.name: secret for secret in secrets}
        redactor.add_codes([code for _, code in self._codes])
        self._redactor = redactor
        self._masks = {}

    def _codes_of(self, name: str) -> list[str]:
        return [code for one, code in self._codes if one == name]


def text_of(secrets: Sequence[Secret]) -> str:
    """Return the text of which the encrypted content is made."""
    rows = [asdict(secret) for secret in sorted(secrets, key=lambda one: one.name)]
    return json.dumps(rows, ensure_ascii=False)


def secrets_of(text: str) -> list[Secret]:
    """Return the secrets of a decrypted text.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: If it is none.
    """
    return [_secret(row) for row in json.loads(text)]


def redactor_for(secrets: Sequence[Secret]) -> SecretRedactor:
    """Return the redactor of the values.

    Raises:
        BadSecret: If one cannot be masked.
    """
    redactor = SecretRedactor()
    try:
        redactor.add([text for secret in secrets for text in secret.masked])
    except InvalidSecret as error:
        raise BadSecret(str(error)) from error
    return redactor


def _decrypted(path: Path, keys: StoreKeys) -> tuple[list[Secret], bool]:
    """Return the secrets, and True if the preferred key encrypts them."""
    content = path.read_text(encoding="utf-8")
    try:
        key = keys.by_id(key_of(content))
        if key is None:
            raise BadSecret("its key is missing: a systemd credential, the keyring or secrets.key")
        text = decrypted(content, key.secret)
    except BadSecret as error:
        # Not replaced by an empty file: values that are not masked any more would be shown.
        raise BadSecret(f"{path} cannot be read: {error}") from error
    return _parsed(path, text), key == keys.existing()


def _parsed(path: Path, text: str) -> list[Secret]:
    try:
        return secrets_of(text)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadSecret(f"{path} cannot be read; repair it, or move it away") from error


def _secret(row: Mapping[str, Any]) -> Secret:
    return Secret(
        row["name"],
        row["value"],
        _several(row["chats"]),
        _several(row.get("domains")),
        bool(row.get("anywhere", False)),
        bool(row.get("without_execute", False)),
        row.get("kind", "text"),
        bool(row.get("any_field", False)),
    )


def _several(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
