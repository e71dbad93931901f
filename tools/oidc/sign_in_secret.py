"""The secret of one sign-in, which the browser keeps, and what is derived from it. Pure.

Only the cookie of the browser has the secret, with the end of the sign-in, the page that follows
and the redirect URI, which another control plane may have at another address. The state, the nonce
and the verifier are digests of all of it, so that no control plane has to keep them, and that
nothing in the cookie can be changed after the sign-in has begun: the provider sends back the state
of before. Whoever reads the state in an address finds neither the secret nor the verifier (RFC
7636, section 7.1).
"""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Self

LONGEST_ONWARD = 2_000
"""Characters of the page that follows; in place of one with more comes the first page."""


@dataclass(frozen=True)
class SignInSecret:
    """The secret of a sign-in; ``value`` is the cookie."""

    value: str = field(repr=False)

    @classmethod
    def begun(cls, secret: str, ends_at: float, onward: str, redirect_uri: str) -> Self:
        """Return that of a new sign-in; ``secret`` is the text of at least 256 random bits."""
        kept = onward if len(onward) <= LONGEST_ONWARD and onward.isprintable() else ""
        return cls(f"{secret}.{int(ends_at)}.{_encoded(kept)}.{_encoded(redirect_uri)}")

    @property
    def ends_at(self) -> float:
        """Unix time at which the sign-in is over; 0 if the cookie is none of a sign-in."""
        ends_at = self._part(1)
        return float(ends_at) if ends_at.isascii() and ends_at.isdecimal() else 0.0

    @property
    def onward(self) -> str:
        """The page that was requested, as a path of this service; empty for the first one."""
        return _decoded(self._part(2))

    @property
    def redirect_uri(self) -> str:
        """The address to which the provider sends the browser back."""
        return _decoded(self._part(3))

    @property
    def state(self) -> str:
        """The parameter that the provider sends back with the browser."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """The value that the provider writes into the ID token."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """The proof that the code is used by the service that asked for it; 43 characters."""
        return self._derived("verifier")

    def _part(self, number: int) -> str:
        parts = self.value.split(".")
        return parts[number] if number < len(parts) else ""

    def _derived(self, purpose: str) -> str:
        derived = hmac.digest(self.value.encode(), purpose.encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(derived).rstrip(b"=").decode()


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def _decoded(encoded: str) -> str:
    try:
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""
