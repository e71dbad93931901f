"""Certificates: the server's own, and those that clients of this machine trust. Owns `ssl`."""

import ssl
from pathlib import Path

from .errors import InvalidRemoteAccess

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def server_context(cert: str, key: str) -> ssl.SSLContext | None:
    """Return the TLS context of the server, or ``None`` without files; call it as root.

    Raises:
        InvalidRemoteAccess: If a file cannot be read, or the key is not that of the certificate.
    """
    if not cert:
        return None
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
