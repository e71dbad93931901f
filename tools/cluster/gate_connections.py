"""Connections to the gate of a node, over TLS with the certificates of both ends.

The node's certificate is checked before each request, since a connection lasts: it may have been
revoked since the handshake.
"""

from urllib.parse import urlsplit

from deskhand.desktop.client.http1.connections import ConnectionPool, ServicePlace

from .errors import PeerRefused
from .member import Member
from .trust import ClusterTls

_HTTPS = 443


def gate_connections(tls: ClusterTls, node: str, address: str) -> ConnectionPool:
    """Return a pool for the gate of a node; ``address`` is ``HOST:PORT``, the pool's owner closes.

    Whatever the address is, the name of the node has to be in the certificate.
    """
    parts = urlsplit(f"//{address}")

    def refusal(certificate: bytes | None) -> str | None:
        try:
            tls.check(certificate, "node", node)
        except PeerRefused as error:
            return str(error)
        return None

    place = ServicePlace(
        *(parts.hostname or "", parts.port or _HTTPS),
        tls=tls.client_context,
        server_name=Member("node", node).host,
        refusal=refusal,
    )
    return ConnectionPool(place)
