"""Second halves of browser sessions: a page keeps one for its origin and sends it as a header.

Cookies know no ports (RFC 6265 section 8.5): a browser sends the cookie of a session to every
server of the host. The storage of a page is that of its origin, so another server has only the
cookie. At the address of a service that has stopped, a server has the storage too. Therefore a key
ends with the process that made it, unless it was given over TLS: nobody else has the certificate.
"""

import hashlib
import hmac
import secrets


class PageKeys:
    """The keys of the sessions of one service.

    A key is derived from the cookie and a secret of the service (RFC 2104), so nothing is stored
    for each session. ``lasting`` is the secret for keys that outlive the process.
    """

    def __init__(self, lasting: bytes = b"", *, always: bool = False) -> None:
        self._brief = secrets.token_bytes(32)
        self._lasting = lasting
        self._always = always

    def of(self, cookie: str, *, over_tls: bool) -> str:
        """Return the key for the session with this cookie."""
        lasts = self._lasting and (over_tls or self._always)
        return _derived(self._lasting if lasts else self._brief, cookie)

    def fits(self, cookie: str, key: str) -> bool:
        """Return whether the key was made for the session with this cookie."""
        kept = [one for one in (self._brief, self._lasting) if one]
        return any(hmac.compare_digest(_derived(one, cookie), _ascii(key)) for one in kept)


def _derived(secret: bytes, cookie: str) -> str:
    return hmac.new(secret, cookie.encode("latin-1", "replace"), hashlib.sha256).hexdigest()


def _ascii(text: str) -> str:
    # ``compare_digest`` raises for other characters.
    return text if text.isascii() else ""
