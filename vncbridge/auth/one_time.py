"""Secrets that work once: tickets, each of which opens one WebSocket, and codes of sign-in links.

A service that is alone keeps them in memory. Services that share their credentials keep them where
each finds those of the others; of several that take one secret at once, one gets it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from .policy import Principal

SecretKind = Literal["ticket", "code"]
MOST = 1000
"""Secrets of one kind that wait in memory; the oldest ends when there is one more."""


@dataclass(frozen=True)
class OneTimeSecret:
    """A secret that waits for its use; its text is not stored."""

    kind: SecretKind
    ends: float
    """Unix time, in seconds."""
    principal: Principal
    """Of a ticket, who gets its rights; of a code, who signs in."""


class OneTimeSecrets(Protocol):
    """Port to the secrets that wait."""

    async def add(self, secret_digest: str, secret: OneTimeSecret) -> None:
        """Keep a secret until it is taken or ends."""

    async def take(self, kind: SecretKind, secret_digest: str) -> OneTimeSecret | None:
        """Remove a secret and return it; None if it is unknown, used or over."""

    async def end(self, name: str) -> None:
        """Remove the tickets whose credential was derived from ``name``."""


class OwnOneTimeSecrets:
    """Keeps the secrets of one process in its memory; ``now`` returns unix time."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._waiting: dict[tuple[SecretKind, str], OneTimeSecret] = {}

    async def add(self, secret_digest: str, secret: OneTimeSecret) -> None:
        """Keep a secret until it is taken or ends."""
        now = self._now()
        self._waiting = {key: one for key, one in self._waiting.items() if one.ends > now}
        same = [key for key in self._waiting if key[0] == secret.kind]
        if len(same) >= MOST:
            # Dicts keep the order of insertion, so the first key is the oldest secret.
            del self._waiting[same[0]]
        self._waiting[secret.kind, secret_digest] = secret

    async def take(self, kind: SecretKind, secret_digest: str) -> OneTimeSecret | None:
        """Remove a secret and return it; None if it is unknown, used or over."""
        found = self._waiting.pop((kind, secret_digest), None)
        return None if found is None or found.ends <= self._now() else found

    async def end(self, name: str) -> None:
        """Remove the tickets whose credential was derived from ``name``."""
        self._waiting = {
            key: one for key, one in self._waiting.items() if name not in one.principal.via
        }
