"""The certificate authority of a cluster: X.509 certificates for control planes and nodes.

- Keys are ECDSA on P-256, which every TLS library has. A certificate is valid for 90 days, the
  authority for ten years.
- A certificate names a role and a name (:mod:`.member`), and the host names that stand for them.
  It serves both ends of a connection.
- The revocation list is a CRL (RFC 5280, section 5), so that one file says it to all. It never
  expires before the authority: a list that nobody renewed must not end the cluster.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from .errors import BadAuthority, BadMember, PeerRefused
from .member import Member

VALID = timedelta(days=90)
AUTHORITY_VALID = timedelta(days=3_650)
EARLIER = timedelta(minutes=5)
"""How much earlier a certificate becomes valid: the clocks of hosts differ."""


@dataclass(frozen=True)
class NewCertificate:
    """A new key and its certificate, both PEM."""

    key: bytes
    certificate: bytes


class Authority:
    """Issues and revokes certificates; ``key`` and ``certificate`` are PEM."""

    def __init__(self, key: bytes, certificate: bytes) -> None:
        """Load an authority.

        Raises:
            BadAuthority: If the key is not that of the certificate.
        """
        self.key = key
        self.certificate = certificate
        try:
            loaded = load_pem_private_key(key, password=None)
            self._own = x509.load_pem_x509_certificate(certificate)
        except ValueError as error:
            raise BadAuthority(f"the files of the authority cannot be read: {error}") from error
        if not isinstance(loaded, ec.EllipticCurvePrivateKey) or (
            loaded.public_key() != self._own.public_key()
        ):
            raise BadAuthority("the key of the authority is not that of its certificate")
        self._key = loaded

    @classmethod
    def new(cls, name: str, now: datetime) -> Self:
        """Make an authority; ``name`` is for people, ``now`` has a time zone."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(name)
        certificate = (
            _certificate(subject, subject, key.public_key(), now, AUTHORITY_VALID)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(_key_id(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        return cls(_pem(key), certificate.public_bytes(Encoding.PEM))

    def issue(self, member: Member, now: datetime) -> NewCertificate:
        """Return a certificate for a control plane or a node, whatever its address is."""
        key = ec.generate_private_key(ec.SECP256R1())
        uri = x509.UniformResourceIdentifier(member.uri)
        names = [x509.DNSName(name) for name in (member.host, f"*.{member.host}")]
        both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        issuer = self._own.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        certificate = (
            _certificate(_name(member.name), self._own.subject, key.public_key(), now, VALID)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(both), critical=False)
            .add_extension(x509.SubjectAlternativeName([uri, *names]), critical=False)
            .add_extension(_key_id(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer),
                critical=False,
            )
            .sign(self._key, hashes.SHA256())
        )
        return NewCertificate(_pem(key), certificate.public_bytes(Encoding.PEM))

    def revocation_list(self, serials: Collection[int], now: datetime) -> bytes:
        """Return the list of all revoked certificates, PEM."""
        made = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self._own.subject)
            .last_update(now - EARLIER)
            .next_update(self._own.not_valid_after_utc)
        )
        for serial in sorted(serials):
            revoked = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now)
            made = made.add_revoked_certificate(revoked.build())
        return made.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)


@dataclass(frozen=True)
class ClusterPeer:
    """What a certificate says about its owner."""

    member: Member
    serial: int
    not_after: datetime


# To read a certificate takes longer than the rest of a request, and each request is checked.
@lru_cache(maxsize=256)
def peer_of(certificate: bytes) -> ClusterPeer:
    """Read a certificate, DER or PEM, whose signature TLS has verified.

    Raises:
        PeerRefused: If it names no control plane and no node.
    """
    try:
        if certificate.startswith(b"-----"):
            loaded = x509.load_pem_x509_certificate(certificate)
        else:
            loaded = x509.load_der_x509_certificate(certificate)
        names = loaded.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        uris = names.get_values_for_type(x509.UniformResourceIdentifier)
        member = Member.of_uri(uris[0] if len(uris) == 1 else " ".join(uris))
    except (BadMember, ValueError, x509.ExtensionNotFound) as error:
        raise PeerRefused(f"the certificate names nobody of this cluster: {error}") from error
    return ClusterPeer(member, loaded.serial_number, loaded.not_valid_after_utc)


def revoked_serials(revocation_list: bytes, authority: bytes) -> frozenset[int]:
    """Return the serial numbers of a revocation list; both arguments are PEM.

    Raises:
        BadAuthority: If it cannot be read, or the authority has not signed it.
    """
    try:
        found = x509.load_pem_x509_crl(revocation_list)
        key = x509.load_pem_x509_certificate(authority).public_key()
    except ValueError as error:
        raise BadAuthority(f"the revocation list cannot be read: {error}") from error
    if not isinstance(key, ec.EllipticCurvePublicKey) or not found.is_signature_valid(key):
        raise BadAuthority("the revocation list is not signed by the cluster's authority")
    return frozenset([one.serial_number for one in found])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    now: datetime,
    valid: timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLIER)
        .not_valid_after(now + valid)
    )


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _key_id(key: ec.EllipticCurvePublicKey) -> x509.SubjectKeyIdentifier:
    return x509.SubjectKeyIdentifier.from_public_key(key)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
