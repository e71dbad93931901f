"""A certificate authority and certificates of servers, made for a test."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True)
class ServerCertificate:
    """Files (PEM) of a server, and of the authority that signed its certificate."""

    ca: Path
    cert: Path
    key: Path


def server_certificate(folder: Path, *names: str) -> ServerCertificate:
    """Make an authority, and a certificate for names; an address is one of them."""
    folder.mkdir(parents=True, exist_ok=True)
    ca_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    ca_name, name = _name("A private authority"), _name(names[0])
    ca = _begun(ca_name, ca_name, ca_key).add_extension(x509.BasicConstraints(True, 0), True)
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    own_id = x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key())
    ca = ca.add_extension(usage, True).add_extension(own_id, False)
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    alternatives = x509.SubjectAlternativeName([_general(one) for one in names])
    cert = (
        _begun(name, ca_name, key)
        .add_extension(alternatives, False)
        .add_extension(authority, False)
    )
    files = ServerCertificate(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")
    pem = serialization.Encoding.PEM
    files.ca.write_bytes(ca.sign(ca_key, hashes.SHA256()).public_bytes(pem))
    files.cert.write_bytes(cert.sign(ca_key, hashes.SHA256()).public_bytes(pem))
    plain = serialization.NoEncryption()
    files.key.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return files


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(IPv4Address(name))
    except ValueError:
        return x509.DNSName(name)


def _begun(
    name: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
    )
