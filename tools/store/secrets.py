"""Values that agents may type and nobody may read: a file of mode 0600, and a mask for texts."""

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

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True)
class Secret:
    """One value. ``chats`` may type it, and those below them; None: all chats.

    With ``domains`` it may be typed into pages of these alone, and of hosts within them.
    """

    name: str
    value: str
    chats: tuple[str, ...] | None = None
    domains: tuple[str, ...] | None = None


class SecretStore:
    """The secrets of one data directory. Without a path it is empty, and stays in memory.

    Any thread may call; the values are replaced as a whole.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._secrets: dict[str, Secret] = {}
        self._disguise = SecretRedactor()
        if path is not None and path.exists():
            known = _read(path)
            self._take(known, _hiding(known))

    @property
    def values(self) -> Sequence[str]:
        """What must be hidden."""
        return [secret.value for secret in self._secrets.values()]

    def listed(self) -> Sequence[Secret]:
        """All of them, by name; who tells of them leaves the values out."""
        return [self._secrets[name] for name in sorted(self._secrets)]

    def put(self, secret: Secret) -> None:
        """Keep a secret from now on, in place of one of that name.

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
        """Forget a secret; what was written stays masked.

        Raises:
            UnknownRow: If there is none of that name.
        """
        if name not in self._secrets:
            raise UnknownRow("secret", name)
        self._keep([one for one in self.listed() if one.name != name])

    def given(self, chats: Collection[str]) -> Sequence[str]:
        """The names of those that a chat may type; ``chats`` are itself and those above it."""
        return [one.name for one in self.listed() if _allows(one, chats)]

    def value(self, name: str, chats: Collection[str]) -> str:
        """The value, for such a chat.

        Raises:
            UnknownRow: If it has none of that name, whether or not others have.
        """
        return self._found(name, chats).value

    def domains(self, name: str, chats: Collection[str]) -> Sequence[str]:
        """On whose pages alone such a chat may type it; none: anywhere. Raises as ``value``."""
        return self._found(name, chats).domains or ()

    def hide(self, text: str) -> str:
        """The text with every known value masked."""
        return self._disguise(text)

    def _found(self, name: str, chats: Collection[str]) -> Secret:
        found = self._secrets.get(name)
        if found is None or not _allows(found, chats):
            raise UnknownRow("secret", name)
        return found

    def _keep(self, secrets: Sequence[Secret]) -> None:
        """Write them, then know them: what cannot be written changes nothing."""
        disguise = _hiding(secrets)
        if self._path is not None:
            rows = [asdict(secret) for secret in sorted(secrets, key=lambda one: one.name)]
            write_private(self._path, json.dumps(rows, ensure_ascii=False))
        self._take(secrets, disguise)

    def _take(self, secrets: Sequence[Secret], disguise: SecretRedactor) -> None:
        self._secrets = {secret.name: secret for secret in secrets}
        self._disguise = disguise


def _hiding(secrets: Sequence[Secret]) -> SecretRedactor:
    disguise = SecretRedactor()
    try:
        disguise.add([secret.value for secret in secrets])
    except InvalidSecret as error:
        raise BadSecret(str(error)) from error
    return disguise


def _allows(secret: Secret, chats: Collection[str]) -> bool:
    return secret.chats is None or not set(secret.chats).isdisjoint(chats)


def _read(path: Path) -> list[Secret]:
    try:
        return [
            Secret(row["name"], row["value"], _several(row["chats"]), _several(row.get("domains")))
            for row in json.loads(path.read_text(encoding="utf-8"))
        ]
    except (ValueError, TypeError, KeyError) as error:
        # Never begun anew: what nobody masks any more would be shown.
        raise BadSecret(f"{path} cannot be read; mend it, or move it away") from error


def _several(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
