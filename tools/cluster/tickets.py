"""Tickets of the live view: signed by the deployment, read by nodes, which have public keys only.

A ticket is a JSON Web Token (RFC 7519) with an Ed25519 signature (RFC 8037). It names one desktop
and one node, and opens one stream. A gate accepts it for 60 s by its own clock: it is valid for
30 s, and clocks may differ by 30 s.

| file | who has it | content |
|---|---|---|
| `ticket-key.pem` | control planes, mode 0600 | the private key |
| `ticket-keys.pem` | nodes | public keys; more than one while the key is replaced |
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from .errors import BadAuthority, TicketRefused

KEY, PUBLIC_KEYS = "ticket-key.pem", "ticket-keys.pem"
VALID_SECONDS = 30.0
SKEW_SECONDS = 30.0
"""By which the clocks of a control plane and a node may differ."""
LIFETIME_SECONDS = VALID_SECONDS + 2 * SKEW_SECONDS
"""After which no ticket that was signed before can be valid, whatever the clocks are."""
LONGEST = 4096
"""Characters of a ticket."""
_ALGORITHM = "EdDSA"
_PUBLIC_KEY = re.compile(rb"-----BEGIN PUBLIC KEY-----.+?-----END PUBLIC KEY-----", re.DOTALL)
_REQUIRED = ["aud", "exp", "jti", "sub"]

TicketRole = Literal["view", "control"]
_ROLES = get_args(TicketRole)


@dataclass(frozen=True)
class LiveTicket:
    """The right to open the live view of a desktop once."""

    id: str
    """Random; a node accepts each id once."""
    node: str
    desktop_id: str
    role: TicketRole
    expires_at: float
    """Unix time, in seconds."""
    caller: str = ""
    """Name of the credential that got it."""
    via: tuple[str, ...] = ()
    """Names of the credentials that it was derived from; its stream ends with any of them."""
    ends: float | None = None
    """Unix time at which the first of these ends by itself."""
    chat_id: str = ""
    person: str = ""
    """Name that other viewers are shown; empty for a caller that has not signed in."""
    origin: str = ""
    """Origin of the page that may use it; empty for any."""


def new_key() -> tuple[bytes, bytes]:
    """Return a new private key and its public key, PEM."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return private, public


class TicketSigner:
    """Signs tickets with the private key of the deployment."""

    def __init__(self, key: bytes) -> None:
        """Load a key, PEM.

        Raises:
            BadAuthority: If it is no Ed25519 key.
        """
        try:
            loaded = load_pem_private_key(key, password=None)
        except ValueError as error:
            raise BadAuthority(f"the key of tickets cannot be read: {error}") from error
        if not isinstance(loaded, Ed25519PrivateKey):
            raise BadAuthority("the key of tickets is no Ed25519 key")
        self._key = loaded

    @classmethod
    def of_folder(cls, folder: Path) -> Self:
        """Load the key of a control plane, which ``deskhand ca plane`` has written.

        Raises:
            BadAuthority: If there is none.
        """
        try:
            return cls((folder / KEY).read_bytes())
        except OSError as error:
            raise BadAuthority(f"{folder / KEY} cannot be read: {error.strerror}") from error

    def sign(self, ticket: LiveTicket) -> str:
        """Return a ticket as text."""
        claims: dict[str, Any] = {
            "jti": ticket.id,
            "aud": ticket.node,
            "sub": ticket.desktop_id,
            "exp": ticket.expires_at,
            "role": ticket.role,
            "caller": ticket.caller,
            "via": list(ticket.via),
            "ends": ticket.ends,
            "chat": ticket.chat_id,
            "person": ticket.person,
            "origin": ticket.origin,
        }
        return jwt.encode(claims, self._key, algorithm=_ALGORITHM)


class TicketReader:
    """Reads tickets for one node, with the public keys of a file."""

    def __init__(self, file: Path, node: str) -> None:
        self._file = file
        self._node = node

    def read(self, text: str, now: float) -> LiveTicket:
        """Return a ticket that is valid at a unix time; whether it was used is not known here.

        Raises:
            TicketRefused: If it is not signed by the deployment, over, or for another node.
        """
        if len(text) > LONGEST:
            raise TicketRefused("it is too long")
        ticket = _ticket(self._verified(text))
        if ticket.node != self._node:
            raise TicketRefused(f"it is for the node {ticket.node}")
        if not ticket.expires_at - VALID_SECONDS - SKEW_SECONDS <= now:
            raise TicketRefused("it is valid for longer than tickets are")
        if now > ticket.expires_at + SKEW_SECONDS:
            raise TicketRefused("it is over")
        return ticket

    def _verified(self, text: str) -> dict[str, Any]:
        options: Any = {"require": _REQUIRED, "verify_exp": False, "verify_aud": False}
        # Tickets are few, and a replaced key counts at once.
        for key in self._keys():
            try:
                found: dict[str, Any] = jwt.decode(
                    text, key, algorithms=[_ALGORITHM], options=options
                )
            except jwt.InvalidSignatureError:
                continue
            except jwt.InvalidTokenError as error:
                raise TicketRefused(f"it is no ticket: {error}") from error
            return found
        raise TicketRefused("it is not signed by this deployment")

    def _keys(self) -> Sequence[Ed25519PublicKey]:
        try:
            texts = _PUBLIC_KEY.findall(self._file.read_bytes())
            loaded = [load_pem_public_key(text) for text in texts]
        except (OSError, ValueError) as error:
            raise TicketRefused(f"the keys in {self._file} cannot be read: {error}") from error
        return [key for key in loaded if isinstance(key, Ed25519PublicKey)]


def _ticket(claims: dict[str, Any]) -> LiveTicket:
    texts = {name: claims.get(name, "") for name in ("caller", "chat", "person", "origin")}
    named = [claims["jti"], claims["aud"], claims["sub"], *texts.values()]
    via, ends = claims.get("via", []), claims.get("ends")
    is_good = (
        all(isinstance(one, str) for one in named)
        and isinstance(via, list)
        and all(isinstance(one, str) for one in via)
        and claims.get("role") in _ROLES
        and isinstance(claims["exp"], int | float)
        and (ends is None or isinstance(ends, int | float))
    )
    if not is_good:
        raise TicketRefused("it has other fields than a ticket")
    return LiveTicket(
        *(claims["jti"], claims["aud"], claims["sub"], claims["role"], float(claims["exp"])),
        caller=texts["caller"],
        via=tuple(via),
        ends=ends,
        chat_id=texts["chat"],
        person=texts["person"],
        origin=texts["origin"],
    )
