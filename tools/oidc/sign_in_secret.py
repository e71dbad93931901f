"""The secret of one sign-in, which the browser keeps, and what is derived from it. Pure.

Only the cookie of the browser has the secret. The state, the nonce and the verifier are digests of
it, so that no control plane has to keep them, and a dump of the database has none of them. Whoever
reads the state in an address finds neither the secret nor the verifier (RFC 7636, section 7.1).
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SignInSecret:
    """The secret of a sign-in; ``value`` is the cookie, of at least 256 random bits."""

    value: str = field(repr=False)

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

    def _derived(self, purpose: str) -> str:
        derived = hmac.digest(self.value.encode(), purpose.encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(derived).rstrip(b"=").decode()
