"""Real TLS connections between two ends that have certificates of an authority."""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deskhand.tools.cluster.certificates import ClusterPeer
from deskhand.tools.cluster.errors import BadAuthority, PeerRefused
from deskhand.tools.cluster.trust import ClusterTls
from tests.tools.cluster.certified import N7, PLANE, Cluster


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


def connected(
    server: ClusterTls, client: ssl.SSLContext, check: Callable[[bytes | None], ClusterPeer]
) -> ClusterPeer | Exception:
    """Connect a client and return whom the server has recognized, or why it has not."""

    async def main() -> ClusterPeer | Exception:
        found: asyncio.Future[ClusterPeer | Exception] = asyncio.get_running_loop().create_future()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            secure: ssl.SSLObject = writer.get_extra_info("ssl_object")
            try:
                found.set_result(check(secure.getpeercert(binary_form=True)))
            except PeerRefused as error:
                found.set_result(error)
            writer.write(b"seen")
            writer.close()

        async with asyncio.timeout(20):
            listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=server.server_context)
            async with listening:
                port = listening.sockets[0].getsockname()[1]
                try:
                    name = server.own.member.host
                    reader, writer = await asyncio.open_connection(
                        "127.0.0.1", port, ssl=client, server_hostname=name
                    )
                    # With TLS 1.3 a client learns only here that it was refused.
                    with closing(writer):
                        if await reader.read() != b"seen":
                            return ConnectionResetError("refused")
                except (ssl.SSLError, ConnectionError) as error:
                    return error
                return await found

    return asyncio.run(main())


def test_a_control_plane_is_recognized_by_a_node_and_a_node_by_a_control_plane(
    cluster: Cluster,
) -> None:
    n7, plane = cluster.n7, cluster.plane
    found = connected(n7, plane.client_context, lambda shown: n7.check(shown, "plane"))
    assert found == plane.own
    found = connected(plane, n7.client_context, lambda shown: plane.check(shown, "node", "n7"))
    assert found == n7.own
    assert n7.own.member == N7


def test_a_certificate_of_a_node_opens_no_other_node_and_is_not_that_of_another(
    cluster: Cluster,
) -> None:
    n7, n8, plane = cluster.n7, cluster.n8, cluster.plane
    found = connected(n7, n8.client_context, lambda shown: n7.check(shown, "plane"))
    assert str(found) == "the node n8 is not the plane"
    found = connected(plane, n8.client_context, lambda shown: plane.check(shown, "node", "n7"))
    assert str(found) == "the node n8 is not the node n7"


def test_a_stranger_and_a_client_without_a_certificate_are_refused_by_tls(
    cluster: Cluster, tmp_path: Path
) -> None:
    n7 = cluster.n7
    stranger = Cluster(tmp_path / "stranger").plane.client_context
    stranger.load_verify_locations(tmp_path / "n7" / "ca.pem")
    nobody = ssl.create_default_context(cafile=tmp_path / "n7" / "ca.pem")
    for context in (stranger, nobody):
        found = connected(n7, context, lambda shown: n7.check(shown, "plane"))
        assert isinstance(found, (ssl.SSLError, ConnectionError)), found
    # And a server that is not of the cluster by the client.
    other = Cluster(tmp_path / "other").n7
    found = connected(
        other, cluster.plane.client_context, lambda shown: other.check(shown, "plane")
    )
    assert isinstance(found, ssl.SSLCertVerificationError)
    with pytest.raises(PeerRefused, match="no certificate was shown"):
        n7.check(None, "plane")


def test_a_certificate_that_is_over_is_refused(cluster: Cluster) -> None:
    n7 = cluster.n7
    over = cluster.issue(PLANE, days=91).client_context
    found = connected(n7, over, lambda shown: n7.check(shown, "plane"))
    assert isinstance(found, (ssl.SSLError, ConnectionError)), found


def test_a_connection_that_lasts_ends_with_its_certificate(cluster: Cluster) -> None:
    later = ClusterTls(cluster.folder / "n7", lambda: datetime.now(UTC) + timedelta(days=91))
    found = connected(
        cluster.n7, cluster.plane.client_context, lambda shown: later.check(shown, "plane")
    )
    assert str(found) == "the certificate of the plane p1 is over"


def test_a_revoked_node_is_refused_after_the_list_is_read_again(cluster: Cluster) -> None:
    plane, n7 = cluster.plane, cluster.n7
    assert plane.refresh() is False
    cluster.files.revoke(N7, datetime.now(UTC))
    cluster.spread_revocations()
    assert plane.refresh() is True
    found = connected(plane, n7.client_context, lambda shown: plane.check(shown, "node", "n7"))
    assert str(found) == "the certificate of the node n7 was revoked"
    n8 = cluster.n8
    found = connected(plane, n8.client_context, lambda shown: plane.check(shown, "node", "n8"))
    assert found == n8.own


def test_a_renewed_certificate_needs_no_restart(cluster: Cluster) -> None:
    plane, n7 = cluster.plane, cluster.n7
    before = n7.own
    renewed = cluster.issue(N7).own
    assert n7.refresh() is True
    assert n7.own == renewed != before
    found = connected(plane, n7.client_context, lambda shown: plane.check(shown, "node", "n7"))
    assert found == renewed
    # As a server, too.
    found = connected(n7, plane.client_context, lambda shown: n7.check(shown, "plane"))
    assert found == plane.own


def test_wrong_files_leave_in_force_what_was_read_before(cluster: Cluster) -> None:
    n7, revoked = cluster.n7, cluster.folder / "n7" / "revoked.pem"
    right = revoked.read_bytes()
    for wrong in (b"", b"no list", cluster.folder.joinpath("n7", "ca.pem").read_bytes()):
        revoked.write_bytes(wrong)
        with pytest.raises(BadAuthority):
            n7.refresh()
    revoked.unlink()
    with pytest.raises(BadAuthority, match=r"revoked\.pem cannot be read"):
        n7.refresh()
    plane = cluster.plane
    found = connected(n7, plane.client_context, lambda shown: n7.check(shown, "plane"))
    assert found == plane.own
    revoked.write_bytes(right)
    assert n7.refresh() is True
    with pytest.raises(BadAuthority, match="cannot be read: No such file"):
        ClusterTls(cluster.folder / "nowhere")


def test_changes_are_found_while_it_runs(cluster: Cluster) -> None:
    async def main() -> None:
        running = asyncio.create_task(cluster.plane.run(0.01))
        (cluster.folder / "p1" / "revoked.pem").write_bytes(b"")
        await asyncio.sleep(0.05)
        assert not running.done()
        before = cluster.plane.own
        cluster.issue(PLANE)
        async with asyncio.timeout(20):
            while cluster.plane.own == before:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(main())
