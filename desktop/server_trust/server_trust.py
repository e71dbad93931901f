"""The certificates by which a client recognizes a service that is reached over TLS. Owns `ssl`."""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from deskhand.desktop.errors import DesktopUnavailable

CA_FILE = "DESKHAND_CA_FILE"
"""Variable with the file (PEM) of a certificate authority that the system does not know."""


@dataclass(frozen=True)
class ServerTrust:
    """What a client trusts beside the authorities of the system."""

    ca_file: str = ""
    """File (PEM) of a private certificate authority."""
    certificate: str = ""
    """File (PEM) with the service's own certificate: it alone is trusted then, under any name."""

    def context(self, address: str) -> ssl.SSLContext:
        """Return the TLS context for an address.

        Raises:
            DesktopUnavailable: If a file cannot be read.
        """
        if not address.startswith("https:"):
            # The default context would load the trust store in vain.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self.certificate:
            return self._pinned()
        context = ssl.create_default_context()
        if self.ca_file:
            _load(context, self.ca_file)
        return context

    def _pinned(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # The service that published the file has the key of this certificate, which is no authority
        # and whose names are those for other machines.
        context.check_hostname = False
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        _load(context, self.certificate)
        return context


def trust_of(environment: Mapping[str, str] = os.environ) -> ServerTrust:
    """Return what the environment names."""
    return ServerTrust(ca_file=environment.get(CA_FILE, ""))


def _load(context: ssl.SSLContext, path: str) -> None:
    try:
        context.load_verify_locations(path)
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror or str(error)
        raise DesktopUnavailable(f"the CA file {path} cannot be used: {reason}") from error
