"""Certificates: the server's own, and those that clients of this machine trust. Owns `ssl`."""

import logging
import ssl
from collections.abc import Callable
from pathlib import Path

from .errors import InvalidRemoteAccess

log = logging.getLogger(__name__)
_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


class ServerCertificate:
    """Certificate and key of the server; changed files count for the connections after the change.

    Create it as root. Files that a later user cannot read, or that do not belong together, change
    nothing; a warning names the reason, once for each change.

    Raises:
        InvalidRemoteAccess: If a file cannot be read, or the key is not that of the certificate.
    """

    def __init__(self, cert: str, key: str) -> None:
        self._cert, self._key = cert, key
        self._seen = self._versions()
        self.context = self._current = _context(cert, key)
        self._publish: Callable[[str], None] = lambda _: None
        # OpenSSL calls this for clients that name no server, too.
        self.context.sni_callback = self._choose

    def publish(self, write: Callable[[str], None]) -> None:
        """Write the server's own certificate (PEM) now and after each renewal.

        Raises:
            OSError: If it cannot be written now.
        """
        write(own_certificate(self._cert))
        self._publish = write

    def _choose(self, connection: ssl.SSLObject, _name: str, _first: ssl.SSLContext) -> None:
        versions = self._versions()
        if versions != self._seen:
            self._seen = versions
            self._renew()
        connection.context = self._current

    def _renew(self) -> None:
        try:
            renewed = _context(self._cert, self._key)
            self._publish(own_certificate(self._cert))
        except (InvalidRemoteAccess, OSError) as error:
            log.warning("the certificate is not renewed: %s", error)
        else:
            self._current = renewed

    def _versions(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(map(_version, (self._cert, self._key)))


def _version(path: str) -> tuple[int, int, int] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _context(cert: str, key: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    # ``load_cert_chain`` names neither the file nor the kind of problem.
    for name, path in (("tls_cert", cert), ("tls_key", key)):
        try:
            Path(path).read_bytes()
        except OSError as error:
            raise InvalidRemoteAccess(name, f"{path}: {error.strerror}") from error
    try:
        # A key with a passphrase must not ask for it on the terminal of a service.
        context.load_cert_chain(cert, key, password=_no_passphrase)
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or str(error)
        raise InvalidRemoteAccess("tls_cert", f"{cert} and {key}: {reason}") from error
    return context


def own_certificate(cert: str) -> str:
    """Return the first certificate of a file (PEM): the server's own; the others are its chain."""
    text = Path(cert).read_text()
    begin = text.index(_BEGIN)
    return text[begin : text.index(_END, begin) + len(_END)] + "\n"


def _no_passphrase() -> str:
    raise ValueError("the key has a passphrase; give one without")
