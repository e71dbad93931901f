"""The directory of a cluster's certificate authority, and the files that it issues.

| file | content |
|---|---|
| `ca-key.pem` | key of the authority, mode 0600: its holder can be any member |
| `ca.pem` | certificate of the authority |
| `revoked.pem` | revocation list |
| `ticket-key.pem`, `ticket-keys.pem` | private and public key of the tickets of the live view |
| `issued/ROLE-NAME-SERIAL.pem` | each certificate that was issued |

A control plane or node gets `identity.pem` (key and certificate, mode 0600: one file, so that both
are replaced at once), `ca.pem`, `revoked.pem` and `ticket-keys.pem`, a control plane
`ticket-key.pem`, too. The key of the authority stays where it is.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from deskhand.tools.store.private_file import write_private

from .certificates import Authority, ClusterPeer, peer_of, revoked_serials
from .errors import BadAuthority
from .member import Member
from .tickets import KEY as KEY_OF_TICKETS
from .tickets import PUBLIC_KEYS, new_key

KEY, CERTIFICATE, REVOKED, ISSUED = "ca-key.pem", "ca.pem", "revoked.pem", "issued"
IDENTITY = "identity.pem"


@dataclass(frozen=True)
class IssuedCertificate:
    """A certificate that was issued, and whether it was revoked."""

    peer: ClusterPeer
    revoked: bool


class AuthorityFiles:
    """The authority in a directory."""

    def __init__(self, folder: Path) -> None:
        """Read an authority.

        Raises:
            BadAuthority: If the directory has none.
        """
        self._folder = folder
        try:
            key, certificate = (folder / KEY).read_bytes(), (folder / CERTIFICATE).read_bytes()
        except FileNotFoundError as error:
            advice = "make one with deskhand ca init, or give another --ca"
            raise BadAuthority(f"{folder} has no certificate authority; {advice}") from error
        self._authority = Authority(key, certificate)

    @classmethod
    def create(cls, folder: Path, now: datetime) -> "AuthorityFiles":
        """Make a new authority in a directory, which is created if there is none.

        Raises:
            BadAuthority: If the directory has one already.
        """
        if (folder / KEY).exists():
            raise BadAuthority(f"{folder} has a certificate authority already; it is kept")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / ISSUED).mkdir(mode=0o700, exist_ok=True)
        made = Authority.new("Deskhand cluster", now)
        _write(folder / CERTIFICATE, made.certificate)
        _write(folder / REVOKED, made.revocation_list((), now))
        # Last: a directory without a key has no authority, and `create` can be repeated.
        _write(folder / KEY, made.key)
        return cls(folder)

    def issue(self, member: Member, out: Path, now: datetime) -> ClusterPeer:
        """Write the files of a control plane or node into ``out``; earlier ones are replaced."""
        issued = self._authority.issue(member, now)
        peer = peer_of(issued.certificate)
        name = f"{member.role}-{member.name}-{peer.serial:x}.pem"
        _write(self._folder / ISSUED / name, issued.certificate)
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(out / CERTIFICATE, self._authority.certificate)
        _write(out / REVOKED, (self._folder / REVOKED).read_bytes())
        _write(out / IDENTITY, issued.key + issued.certificate)
        self._write_ticket_keys(member, out)
        return peer

    def issued(self) -> tuple[IssuedCertificate, ...]:
        """Return all certificates, those of one owner together, the newest last."""
        revoked = self._revoked()
        peers = [peer_of(file.read_bytes()) for file in (self._folder / ISSUED).glob("*.pem")]
        peers.sort(key=lambda peer: (peer.member.uri, peer.not_after, peer.serial))
        return tuple([IssuedCertificate(peer, peer.serial in revoked) for peer in peers])

    def revoke(self, member: Member, now: datetime) -> int:
        """Revoke all certificates of a control plane or node; return how many that were.

        Raises:
            BadAuthority: If there is none that was not revoked before.
        """
        found = [one.peer for one in self.issued() if one.peer.member == member]
        left = {peer.serial for peer in found} - self._revoked()
        if not left:
            why = "was revoked before" if found else "was never issued"
            raise BadAuthority(f"a certificate of the {member.role} {member.name} {why}")
        serials = self._revoked() | left
        _write(self._folder / REVOKED, self._authority.revocation_list(serials, now))
        return len(left)

    def _write_ticket_keys(self, member: Member, out: Path) -> None:
        if not (self._folder / KEY_OF_TICKETS).exists():
            # The authority was made before there were tickets.
            private, public = new_key()
            _write(self._folder / PUBLIC_KEYS, public)
            _write(self._folder / KEY_OF_TICKETS, private)
        _write(out / PUBLIC_KEYS, (self._folder / PUBLIC_KEYS).read_bytes())
        if member.role == "plane":
            _write(out / KEY_OF_TICKETS, (self._folder / KEY_OF_TICKETS).read_bytes())

    def _revoked(self) -> frozenset[int]:
        return revoked_serials((self._folder / REVOKED).read_bytes(), self._authority.certificate)


def _write(file: Path, content: bytes) -> None:
    write_private(file, content.decode("ascii"))
