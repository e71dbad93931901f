"""Usernames and passwords that git may use, kept in memory only."""

import re
from dataclasses import dataclass, field

from .credential_prompts import prompt_of
from .errors import InvalidCredential

MOST = 100
LONGEST = 4_000

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"]+", re.IGNORECASE)


@dataclass(frozen=True)
class Credential:
    """A username and a password for one server."""

    server: str
    """Such as ``https://host:port``."""
    username: str
    # Without it in `repr`, a password cannot get into logs and tracebacks.
    password: str = field(repr=False)


class GitCredentials:
    """Credentials by server, one for each."""

    def __init__(self) -> None:
        self._known: dict[str, Credential] = {}

    def put(self, credential: Credential) -> None:
        """Add a credential, and replace an earlier one for its server.

        Raises:
            InvalidCredential: If the limit is reached.
        """
        if credential.server not in self._known and len(self._known) >= MOST:
            raise InvalidCredential(f"at most {MOST} credentials are kept")
        self._known[credential.server] = credential

    def remove(self, server: str) -> bool:
        """Remove the credential for a server; return False if there is none."""
        return self._known.pop(server, None) is not None

    def find(self, server: str) -> Credential | None:
        """Return the credential for a server."""
        return self._known.get(server)

    def all(self) -> list[Credential]:
        """Return all credentials, sorted by server."""
        return [self._known[server] for server in sorted(self._known)]


def server_in(url: str) -> str:
    """Return the server of a URL, which may also contain a path and a username.

    Raises:
        InvalidCredential: If the text is not a URL.
    """
    # The parser of prompts reads both, so that an address and a prompt give the same key.
    found = prompt_of(url)
    if found is None or not _ADDRESS.fullmatch(url):
        raise InvalidCredential("url must be an address as https://host")
    return found.server


def credential(url: str, username: str, password: str) -> Credential:
    """Return a validated credential.

    Raises:
        InvalidCredential: If git cannot receive it, for example as it has a line break.
    """
    for name, value in (("username", username), ("password", password)):
        if not value or len(value) > LONGEST:
            raise InvalidCredential(f"{name} has 1 to {LONGEST} characters")
        if not value.isprintable():
            raise InvalidCredential(f"{name} must be one line of printable characters")
    return Credential(server_in(url), username, password)
