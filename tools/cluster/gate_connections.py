"""Connections to the gate of a node, over TLS with the certificates of both ends.

The node's certificate is checked before each request, since a connection lasts: it may have been
revoked since the handshake.
"""

from functools import lru_cache
from urllib.parse import urlsplit

from deskhand.desktop.client.http1.connections import ConnectionPool, ServicePlace

from .certificates import peer_of
from .errors import PeerRefused
from .member import Member
from .trust import ClusterTls

_HTTPS = 443

# One certificate is checked for each request on a connection.
_peer_of = lru_cache(maxsize=256)(peer_of)


def gate_connections(tls: ClusterTls, node: str, address: str) -> ConnectionPool:
    """Return a pool for the gate of a node; ``address`` is ``HOST:PORT``, the pool's owner closes.

    Whatever the address is, the name of the node has to be in the certificate.
    """
    parts = urlsplit(f"//{address}")

    def refusal(certificate: bytes | None) -> str | None:
        try:
            if certificate is None:
                raise PeerRefused("no certificate was shown")
            tls.check_peer(_peer_of(certificate), "node", node)
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
