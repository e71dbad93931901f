"""TLS between control planes and nodes: both ends show a certificate of the cluster's authority.

TLS verifies that the authority has signed a certificate, and that it is valid. Who may do what is
decided here, by the role and the name in the certificate (`ClusterTls.check`): a node's certificate
opens no control plane and no other node.

The files are read again when they change (`run`), so that a renewed certificate and a new list of
revoked ones need no restart. New connections use them at once; connections that last are checked
with each request.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from .authority_files import CERTIFICATE, IDENTITY, REVOKED
from .certificates import ClusterPeer, peer_of, revoked_serials
from .errors import BadAuthority, ClusterError, PeerRefused
from .member import Role

log = logging.getLogger(__name__)

REFRESH_SECONDS = 5.0
"""Between two checks whether a file has changed."""


class ClusterTls:
    """Our certificate, and whom we trust; ``deskhand ca`` has written ``folder``."""

    def __init__(
        self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Read the files.

        Raises:
            BadAuthority: If one is missing, or does not fit the others.
        """
        self._folder = folder
        self._now = now
        self.server_context = _context(ssl.PROTOCOL_TLS_SERVER)
        self.client_context = _context(ssl.PROTOCOL_TLS_CLIENT)
        self._read_at: tuple[int, ...] = ()
        self._revoked: frozenset[int] = frozenset()
        self.own = self._read()

    def check(self, certificate: bytes | None, role: Role, name: str | None = None) -> ClusterPeer:
        """Return who has shown a certificate (DER) on a verified connection.

        Raises:
            PeerRefused: If it has another role or name, was revoked, or is over.
        """
        if not certificate:
            raise PeerRefused("no certificate was shown")
        peer = peer_of(certificate)
        known = f"the {peer.member.role} {peer.member.name}"
        if peer.serial in self._revoked:
            raise PeerRefused(f"the certificate of {known} was revoked")
        if peer.not_after <= self._now():
            raise PeerRefused(f"the certificate of {known} is over")
        if peer.member.role != role or name not in (None, peer.member.name):
            wanted = role if name is None else f"{role} {name}"
            raise PeerRefused(f"{known} is not the {wanted}")
        return peer

    def refresh(self) -> bool:
        """Read the files again if they have changed; return whether they had.

        Raises:
            BadAuthority: If they are wrong now; what was read before stays in force.
        """
        if self._changed_at() == self._read_at:
            return False
        self.own = self._read()
        return True

    async def run(self, seconds: float = REFRESH_SECONDS) -> None:
        """Read the files again whenever they change; never return."""
        while True:
            await asyncio.sleep(seconds)
            try:
                if self.refresh():
                    log.info("the certificates were read again")
            except ClusterError as error:
                log.error("the certificates cannot be read again: %s", error)

    def _read(self) -> ClusterPeer:
        changed_at = self._changed_at()
        identity, authority = self._folder / IDENTITY, self._folder / CERTIFICATE
        try:
            certificate = authority.read_bytes()
            revoked = revoked_serials((self._folder / REVOKED).read_bytes(), certificate)
            text = identity.read_bytes()
            own = peer_of(text[text.index(b"-----BEGIN CERTIFICATE-----") :])
            for context in (self.server_context, self.client_context):
                context.load_verify_locations(authority)
                context.load_cert_chain(identity)
        except (OSError, ValueError, PeerRefused) as error:
            raise BadAuthority(f"the files in {self._folder} cannot be used: {error}") from error
        self._read_at, self._revoked = changed_at, revoked
        return own

    def _changed_at(self) -> tuple[int, ...]:
        try:
            files = [self._folder / name for name in (IDENTITY, CERTIFICATE, REVOKED)]
            return tuple(
                [part for s in map(Path.stat, files) for part in (s.st_mtime_ns, s.st_ino)]
            )
        except OSError as error:
            raise BadAuthority(f"{error.filename} cannot be read: {error.strerror}") from error


def _context(protocol: int) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    return context
