"""A secret that agents may type: who may type it, and where. Pure.

A secret names its domains, or a person has stated that it may be typed anywhere. One of an earlier
version may have neither. It stays in the state ``needs_domains``: it is masked as before, and no
agent can type it until a person stores it again with domains or with ``anywhere``.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from deskhand.desktop.domains import is_domain_entry
from deskhand.tools.store.errors import BadSecret

from .one_time_codes import code_generator, written_seeds

# Names stand in paths of the API and in arguments of tools.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
SHORTEST_ANYWHERE = 8
"""Characters of a value without domains; a shorter one can be guessed, and it occurs by chance."""

State = Literal["ready", "needs_domains"]
SecretKind = Literal["text", "totp"]
"""``text`` is typed as it is; of ``totp``, an ``otpauth://`` address, the current code is typed."""
KINDS: tuple[SecretKind, ...] = get_args(SecretKind)


@dataclass(frozen=True)
class EnteredText:
    """The text to type for a secret."""

    text: str
    seconds_left: float | None = None
    """For how long a one-time code is valid; ``None`` for other texts."""


@dataclass(frozen=True)
class Secret:
    """One secret value.

    ``chats`` and their descendants may type it; ``None`` permits all chats.
    """

    name: str
    value: str
    chats: tuple[str, ...] | None = None
    domains: tuple[str, ...] | None = None
    """It may be typed only into pages of these domains and their subdomains."""
    anywhere: bool = False
    """True if a person has stated that it may be typed without domains."""
    without_execute: bool = False
    """True if only chats that have no tool ``execute`` may type it."""
    kind: SecretKind = "text"
    any_field: bool = False
    """True if a person has stated that with domains any field of their pages may receive it."""

    @property
    def state(self) -> State:
        """``needs_domains`` if agents cannot type it, because nothing states where they may."""
        return "ready" if self.domains or self.anywhere else "needs_domains"

    @property
    def masked(self) -> tuple[str, ...]:
        """The texts that nobody may read: its value, and the seed in it."""
        if self.kind == "totp":
            return (self.value, *written_seeds(self.value))
        return (self.value,)

    def wait(self, now: float) -> float:
        """Return the seconds until it can be typed: a code that expires at once is not.

        ``now`` is in seconds since 1970.
        """
        return code_generator(self.value).wait(now) if self.kind == "totp" else 0.0

    def entered(self, now: float) -> EnteredText:
        """Return the text to type at a time: the value, or the code of that time."""
        if self.kind == "totp":
            code = code_generator(self.value).at(now)
            return EnteredText(code.text, code.seconds_left)
        return EnteredText(self.value)

    def allows(self, chats: Collection[str], *, execute: bool = False) -> bool:
        """Return whether a chat may type it: one of ``chats``, its id and those of its ancestors.

        ``execute`` if the chat can run programs.
        """
        if execute and self.without_execute:
            return False
        return self.is_given(chats)

    def is_given(self, chats: Collection[str]) -> bool:
        """Return whether it was given to a chat, so that its value is masked there."""
        return self.chats is None or not set(self.chats).isdisjoint(chats)


def rotated(old: Secret, value: str, rules: Mapping[str, Any]) -> Secret:
    """Return a secret with another value; rules that are not given stay as they were.

    ``rules`` are fields by their names. Domains end a permission to type it anywhere, and that
    permission ends the limit to domains and to fields.
    """
    changed = dict(rules)
    if changed.get("domains") is not None:
        changed.setdefault("anywhere", False)
    elif changed.get("anywhere"):
        changed.setdefault("domains", None)
        changed.setdefault("any_field", False)
    return replace(old, value=value, **changed)


def check(secret: Secret) -> None:
    """Check a secret that a person stores.

    Raises:
        BadSecret: If it cannot be stored; the text gives the reason without the value.
    """
    if NAME.fullmatch(secret.name) is None:
        raise BadSecret("a name has 1 to 64 letters, digits, dots, dashes and underscores")
    if secret.domains is not None and not (
        secret.domains and all(map(is_domain_entry, secret.domains))
    ):
        raise BadSecret("domains are hosts' names in small letters, as mail.example")
    if secret.domains and secret.anywhere:
        raise BadSecret('give domains or "anywhere": true, not both')
    if secret.any_field and secret.anywhere:
        raise BadSecret('"any_field": true is for a secret with domains: any field takes this one')
    if secret.kind == "totp":
        code_generator(secret.value)
    if secret.domains:
        return
    if not secret.anywhere:
        raise BadSecret('it needs domains, or "anywhere": true to be typed into any application')
    if len(secret.value) < SHORTEST_ANYWHERE:
        raise BadSecret(f"a value of fewer than {SHORTEST_ANYWHERE} characters needs domains")
