import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from deskhand.tools.cluster.errors import BadAuthority, TicketRefused
from deskhand.tools.cluster.member import Member
from deskhand.tools.cluster.tickets import (
    KEY,
    LONGEST,
    PUBLIC_KEYS,
    SKEW_SECONDS,
    LiveTicket,
    TicketReader,
    TicketSigner,
    new_key,
)
from tests.tools.cluster.certified import Cluster

NOW = 1_800_000_000.0
TICKET = LiveTicket(
    *("t1", "n7", "aaaaaaaa", "view", NOW + 30),
    caller="ci",
    via=("token-1", "session-2"),
    ends=NOW + 500,
    chat_id="c1",
    person="Ada",
    origin="https://desk.example.com",
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    return Cluster(tmp_path_factory.mktemp("cluster"))


@pytest.fixture
def signer(cluster: Cluster) -> TicketSigner:
    return TicketSigner.of_folder(cluster.folder / "p1")


@pytest.fixture
def reader(cluster: Cluster) -> TicketReader:
    return TicketReader(cluster.folder / "n7" / PUBLIC_KEYS, "n7")


def test_a_node_reads_what_a_control_plane_has_signed(
    signer: TicketSigner, reader: TicketReader
) -> None:
    assert reader.read(signer.sign(TICKET), NOW) == TICKET
    plain = LiveTicket("t2", "n7", "aaaaaaaa", "control", NOW + 30)
    assert reader.read(signer.sign(plain), NOW) == plain


def test_only_control_planes_get_the_private_key_and_all_have_the_same(cluster: Cluster) -> None:
    cluster.issue(Member("plane", "p2"))
    private = cluster.folder / "p1" / KEY
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert private.read_bytes() == (cluster.folder / "p2" / KEY).read_bytes()
    assert not (cluster.folder / "n7" / KEY).exists()
    assert b"PRIVATE" not in (cluster.folder / "n7" / PUBLIC_KEYS).read_bytes()


def test_tickets_for_others_or_of_another_time_are_refused(
    signer: TicketSigner, reader: TicketReader
) -> None:
    text = signer.sign(TICKET)
    for wrong, now, reason in (
        (signer.sign(replace(TICKET, node="n8")), NOW, "for the node n8"),
        (text, TICKET.expires_at + SKEW_SECONDS + 1, "over"),
        (signer.sign(replace(TICKET, expires_at=NOW + 90)), NOW, "longer than tickets"),
        ("x" * (LONGEST + 1), NOW, "too long"),
        ("", NOW, "no ticket"),
    ):
        with pytest.raises(TicketRefused, match=reason):
            reader.read(wrong, now)
    # The clocks of two hosts may differ.
    assert reader.read(text, TICKET.expires_at + SKEW_SECONDS) == TICKET
    assert reader.read(text, NOW - SKEW_SECONDS) == TICKET


def test_tickets_that_the_deployment_has_not_signed_are_refused(
    cluster: Cluster, signer: TicketSigner, reader: TicketReader
) -> None:
    stranger = TicketSigner(new_key()[0])
    head, claims, signature = signer.sign(TICKET).split(".")
    raised = signer.sign(replace(TICKET, role="control")).split(".")[1]
    public = (cluster.folder / "n7" / PUBLIC_KEYS).read_bytes()
    unsigned = jwt.encode({"jti": "t", "aud": "n7", "sub": "a", "exp": NOW}, "", algorithm="none")
    for wrong in (
        stranger.sign(TICKET),
        ".".join((head, raised, signature)),
        ".".join((head, claims, "")),
        unsigned,
        # The public key must not be taken for a shared secret.
        _by_secret(public),
    ):
        with pytest.raises(TicketRefused):
            reader.read(wrong, NOW)


def _by_secret(secret: bytes) -> str:
    head, claims = {"alg": "HS256"}, {"jti": "t", "aud": "n7", "sub": "a", "exp": NOW}
    # PyJWT does not make such a token from a key of this form.
    made = jwt.encode(claims, "x" * 64, algorithm="HS256", headers=head)
    body = made.rpartition(".")[0]
    signed = jwt.get_algorithm_by_name("HS256").sign(body.encode(), secret)
    return f"{body}.{jwt.utils.base64url_encode(signed).decode()}"


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "admin"},
        {"sub": ["aaaaaaaa"]},
        {"via": "token-1"},
        {"via": [1]},
        {"ends": "later"},
        {"exp": "later"},
        {"person": None},
        {"jti": None},
    ],
)
def test_signed_texts_that_are_no_tickets_are_refused(
    cluster: Cluster, reader: TicketReader, wrong: dict[str, Any]
) -> None:
    key: Any = load_pem_private_key((cluster.folder / "p1" / KEY).read_bytes(), None)
    claims = {"jti": "t", "aud": "n7", "sub": "a", "exp": NOW, "role": "view"}
    reader.read(jwt.encode(claims, key, algorithm="EdDSA"), NOW)
    with pytest.raises(TicketRefused):
        reader.read(jwt.encode({**claims, **wrong}, key, algorithm="EdDSA"), NOW)


def test_two_keys_are_valid_while_one_replaces_the_other(tmp_path: Path) -> None:
    (old, old_public), (new, new_public) = new_key(), new_key()
    file = tmp_path / PUBLIC_KEYS
    reader = TicketReader(file, "n7")
    with pytest.raises(TicketRefused, match="cannot be read"):
        reader.read(TicketSigner(old).sign(TICKET), NOW)
    file.write_bytes(old_public + new_public)
    for key in (old, new):
        assert reader.read(TicketSigner(key).sign(TICKET), NOW) == TICKET
    file.write_bytes(new_public)
    with pytest.raises(TicketRefused, match="not signed"):
        reader.read(TicketSigner(old).sign(TICKET), NOW)


def test_keys_that_cannot_sign_tickets_are_refused(tmp_path: Path, cluster: Cluster) -> None:
    with pytest.raises(BadAuthority, match="cannot be read"):
        TicketSigner.of_folder(tmp_path)
    with pytest.raises(BadAuthority, match="cannot be read"):
        TicketSigner(b"no key")
    authority = (cluster.folder / "ca" / "ca-key.pem").read_bytes()
    with pytest.raises(BadAuthority, match="no Ed25519 key"):
        TicketSigner(authority)
