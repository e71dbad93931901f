import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deskhand.tools.cluster.authority_files import AuthorityFiles
from deskhand.tools.cluster.certificates import revoked_serials
from deskhand.tools.cluster.errors import BadAuthority
from deskhand.tools.cluster.member import Member

NOW = datetime(2026, 11, 23, tzinfo=UTC)
N7, N8, PLANE = Member("node", "n7"), Member("node", "n8"), Member("plane", "n7")


def test_an_authority_is_made_once(tmp_path: Path) -> None:
    folder = tmp_path / "ca"
    AuthorityFiles.create(folder, NOW)
    with pytest.raises(BadAuthority, match="has a certificate authority already"):
        AuthorityFiles.create(folder, NOW)
    assert AuthorityFiles(folder).issued() == ()
    with pytest.raises(BadAuthority, match="deskhand ca init"):
        AuthorityFiles(tmp_path / "other")


def test_only_the_owner_reads_what_is_written(tmp_path: Path) -> None:
    files = AuthorityFiles.create(tmp_path / "ca", NOW)
    files.issue(N7, tmp_path / "n7", NOW)
    written = [*tmp_path.rglob("*.pem")]
    assert {file.name for file in (tmp_path / "n7").iterdir()} == {
        *("ca.pem", "identity.pem", "revoked.pem", "ticket-keys.pem")
    }
    assert {stat.S_IMODE(file.stat().st_mode) for file in written} == {0o600}
    assert (tmp_path / "ca" / "ca-key.pem").read_text() not in (
        (tmp_path / "n7" / "identity.pem").read_text()
    )


def test_a_certificate_is_renewed_in_its_place(tmp_path: Path) -> None:
    files = AuthorityFiles.create(tmp_path / "ca", NOW)
    out = tmp_path / "n7"
    first = files.issue(N7, out, NOW)
    before = (out / "identity.pem").read_bytes()
    second = files.issue(N7, out, NOW + timedelta(days=80))
    assert (out / "identity.pem").read_bytes() != before
    assert [one.peer for one in files.issued()] == [first, second]


def test_all_certificates_of_a_node_are_revoked_and_no_others(tmp_path: Path) -> None:
    files = AuthorityFiles.create(tmp_path / "ca", NOW)
    seen = [
        files.issue(each, tmp_path / str(number), NOW)
        for number, each in enumerate((N7, N7, N8, PLANE))
    ]
    assert files.revoke(N7, NOW) == 2
    revoked = {one.peer.serial for one in files.issued() if one.revoked}
    assert revoked == {peer.serial for peer in seen[:2]}
    folder = tmp_path / "ca"
    listed = (folder / "revoked.pem").read_bytes()
    assert revoked_serials(listed, (folder / "ca.pem").read_bytes()) == revoked
    # The next one gets the list with its files, and those before stay in it.
    assert files.revoke(PLANE, NOW) == 1
    files.issue(N7, tmp_path / "again", NOW)
    assert (
        len(
            revoked_serials(
                (tmp_path / "again" / "revoked.pem").read_bytes(), (folder / "ca.pem").read_bytes()
            )
        )
        == 3
    )
    assert files.revoke(N7, NOW) == 1


def test_what_is_not_in_force_cannot_be_revoked(tmp_path: Path) -> None:
    files = AuthorityFiles.create(tmp_path / "ca", NOW)
    with pytest.raises(BadAuthority, match="of the node n7 was never issued"):
        files.revoke(N7, NOW)
    files.issue(N7, tmp_path / "n7", NOW)
    files.revoke(N7, NOW)
    with pytest.raises(BadAuthority, match="of the node n7 was revoked before"):
        files.revoke(N7, NOW)
