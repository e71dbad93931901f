"""Secrets that agents may type but not read, in a file of mode 0600, and their redaction in texts.

Redaction covers the values of the present: a removed secret is not redacted any more, while texts
that were stored redacted stay so. A change is written to the disk before it takes effect. A value
that could not be stored must not become usable, or it would be unknown, and shown, after the next
start.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from deskhand.desktop.domains import is_domain
from deskhand.desktop.errors import InvalidSecret
from deskhand.desktop.secrets.redaction import SecretRedactor

from .errors import BadSecret, UnknownRow
from .private_file import write_private

# Names stand in paths of the API and in arguments of tools.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True)
class Secret:
    """One secret value.

    ``chats`` and their descendants may type it; ``None`` permits all chats. With ``domains`` it may
    be typed only into pages of these domains and their subdomains.
    """

    name: str
    value: str
    chats: tuple[str, ...] | None = None
    domains: tuple[str, ...] | None = None


class SecretStore:
    """The secrets of one data directory; without a path, an empty store in memory.

    The methods may be called from any thread, as values and redactor are replaced as a whole.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._secrets: dict[str, Secret] = {}
        self._redactor = SecretRedactor()
        if path is not None and path.exists():
            known = _read(path)
            self._take(known, _redactor_for(known))

    @property
    def values(self) -> Sequence[str]:
        """The values to redact."""
        return [secret.value for secret in self._secrets.values()]

    def listed(self) -> Sequence[Secret]:
        """Return all secrets by name; a caller that publishes them must leave out the values."""
        return [self._secrets[name] for name in sorted(self._secrets)]

    def put(self, secret: Secret) -> None:
        """Store a secret, replacing one of the same name.

        Raises:
            BadSecret: If its name or value cannot be used.
        """
        if NAME.fullmatch(secret.name) is None:
            raise BadSecret("a name has 1 to 64 letters, digits, dots, dashes and underscores")
        if secret.domains is not None and not (
            secret.domains and all(map(is_domain, secret.domains))
        ):
            raise BadSecret("domains are hosts' names in small letters, as mail.example")
        self._keep([*(one for one in self.listed() if one.name != secret.name), secret])

    def remove(self, name: str) -> None:
        """Remove a secret; texts that were written before stay redacted.

        Raises:
            UnknownRow: If no secret has that name.
        """
        if name not in self._secrets:
            raise UnknownRow("secret", name)
        self._keep([one for one in self.listed() if one.name != name])

    def given(self, chats: Collection[str]) -> Sequence[str]:
        """Return the names of the secrets that a chat may type.

        ``chats`` are the id of the chat and those of its ancestors.
        """
        return [one.name for one in self.listed() if _allows(one, chats)]

    def value(self, name: str, chats: Collection[str]) -> str:
        """Return a value to a chat that may type it; ``chats`` as in :meth:`given`.

        Raises:
            UnknownRow: If the chat may not type it, whether or not the secret exists.
        """
        return self._found(name, chats).value

    def domains(self, name: str, chats: Collection[str]) -> Sequence[str]:
        """Return the domains to which a secret is limited; none of them permits all.

        Raises the same as :meth:`value`.
        """
        return self._found(name, chats).domains or ()

    def hide(self, text: str) -> str:
        """Return a text with every known value redacted."""
        return self._redactor(text)

    def _found(self, name: str, chats: Collection[str]) -> Secret:
        found = self._secrets.get(name)
        if found is None or not _allows(found, chats):
            raise UnknownRow("secret", name)
        return found

    def _keep(self, secrets: Sequence[Secret]) -> None:
        """Write the secrets to the disk, then use them; a failure changes nothing."""
        # Built first, as it refuses values that cannot be redacted: these must not reach the disk.
        redactor = _redactor_for(secrets)
        if self._path is not None:
            rows = [asdict(secret) for secret in sorted(secrets, key=lambda one: one.name)]
            write_private(self._path, json.dumps(rows, ensure_ascii=False))
        self._take(secrets, redactor)

    def _take(self, secrets: Sequence[Secret], redactor: SecretRedactor) -> None:
        self._secrets = {secret.name: secret for secret in secrets}
        self._redactor = redactor


def _redactor_for(secrets: Sequence[Secret]) -> SecretRedactor:
    redactor = SecretRedactor()
    try:
        redactor.add([secret.value for secret in secrets])
    except InvalidSecret as error:
        raise BadSecret(str(error)) from error
    return redactor


def _allows(secret: Secret, chats: Collection[str]) -> bool:
    return secret.chats is None or not set(secret.chats).isdisjoint(chats)


def _read(path: Path) -> list[Secret]:
    try:
        return [
            Secret(row["name"], row["value"], _several(row["chats"]), _several(row.get("domains")))
            for row in json.loads(path.read_text(encoding="utf-8"))
        ]
    except (ValueError, TypeError, KeyError) as error:
        # Not replaced by an empty file: values that are not redacted any more would be shown.
        raise BadSecret(f"{path} cannot be read; mend it, or move it away") from error


def _several(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
