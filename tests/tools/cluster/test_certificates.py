from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from deskhand.tools.cluster.certificates import Authority, peer_of, revoked_serials
from deskhand.tools.cluster.errors import BadAuthority, PeerRefused
from deskhand.tools.cluster.member import Member

NOW = datetime(2026, 11, 23, tzinfo=UTC)
NODE = Member("node", "n7")


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.new("A cluster", NOW)


def test_a_certificate_names_its_owner_for_90_days(authority: Authority) -> None:
    issued = authority.issue(NODE, NOW)
    assert issued.key.startswith(b"-----BEGIN PRIVATE KEY-----")
    peer = peer_of(issued.certificate)
    assert (peer.member, peer.not_after) == (NODE, NOW + timedelta(days=90))
    loaded = x509.load_pem_x509_certificate(issued.certificate)
    assert peer_of(loaded.public_bytes(Encoding.DER)) == peer
    names = loaded.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == [
        "n7.node.deskhand.internal",
        "*.n7.node.deskhand.internal",
    ]
    # A clock that is a little slow accepts it, too.
    assert loaded.not_valid_before_utc < NOW


def test_an_authority_is_loaded_from_its_files(authority: Authority) -> None:
    again = Authority(authority.key, authority.certificate)
    peer = peer_of(again.issue(NODE, NOW).certificate)
    assert peer.member == NODE


def test_wrong_files_are_no_authority(authority: Authority) -> None:
    other = Authority.new("Another", NOW)
    with pytest.raises(BadAuthority, match="not that of its certificate"):
        Authority(other.key, authority.certificate)
    with pytest.raises(BadAuthority, match="cannot be read"):
        Authority(b"no key", authority.certificate)


def test_a_revocation_list_is_that_of_the_authority(authority: Authority) -> None:
    assert revoked_serials(authority.revocation_list((), NOW), authority.certificate) == frozenset()
    listed = authority.revocation_list({5, 2**80}, NOW)
    assert revoked_serials(listed, authority.certificate) == {5, 2**80}
    forged = Authority.new("A cluster", NOW).revocation_list((), NOW)
    with pytest.raises(BadAuthority, match="not signed by the cluster's authority"):
        revoked_serials(forged, authority.certificate)
    with pytest.raises(BadAuthority, match="cannot be read"):
        revoked_serials(b"", authority.certificate)


def test_a_certificate_of_nobody_is_refused(authority: Authority) -> None:
    with pytest.raises(PeerRefused, match="names nobody of this cluster"):
        peer_of(authority.certificate)
    for certificate in (b"", b"\x30\x00", b"-----BEGIN CERTIFICATE-----\n"):
        with pytest.raises(PeerRefused):
            peer_of(certificate)
