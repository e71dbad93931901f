"""The daemon of a node with real desktops, as a control plane uses it."""

import asyncio
import io
import os
import re
import secrets
import signal
import ssl
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import psutil
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from deskhand.desktop.isolation.process_identity import start_time
from deskhand.tools.cluster.tickets import KEY, LiveTicket, TicketSigner
from tests.cluster.nodes import Node, node
from tests.cluster.playing import LIMIT
from tests.system.services import until
from tests.tools.cluster.certified import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.x11]

# Desktops of several tests at once lie in one folder.
A, B = secrets.token_hex(4), secrets.token_hex(4)
RECORDING = "a1111111-2222-3333-4444-555555555555"
CANARY = "canary-4d1f"
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": f"{CANARY}-bucket",
    "DESKHAND_DATABASE": f"postgresql://deskhand:{CANARY}-url@db/deskhand",
    "DESKHAND_SIGNING_KEY": f"{CANARY}-signing",
    "OPENAI_API_KEY": f"{CANARY}-provider",
    "PGPASSWORD": f"{CANARY}-password",
}


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path / "authority")


def act(node: Node, desktop_id: str, **action: object) -> dict[str, object]:
    path = f"/desktops/{desktop_id}/api/v0/desktop/action"
    answer = node.ask("POST", path, json=action, headers={"Deskhand-Generation": "1"})
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def state(node: Node, desktop_id: str) -> tuple[object, object]:
    """Return what another display, or a display that was replaced, would not have."""
    instance = node.json(f"/desktops/{desktop_id}/api/v0/desktop")["instance_id"]
    return instance, act(node, desktop_id, action="cursor_position")["output"]


async def greeting(node: Node, desktop_id: str) -> bytes:
    """Return the first message of the live view."""
    url = f"wss://{node.host}:{node.port}/desktops/{desktop_id}/api/v0/desktop/vnc?role=view"
    tls = node.cluster.plane.client_context
    async with asyncio.timeout(LIMIT):
        opening = connect(url, ssl=tls, host="127.0.0.1", port=node.port, proxy=None)
        async with opening as websocket:
            first = await websocket.recv()
            assert isinstance(first, bytes)
            return first


@pytest.mark.slow("starts desktops and the daemon twice")
def test_a_desktop_is_used_through_the_gate_and_survives_the_daemon(
    cluster: Cluster, tmp_path: Path
) -> None:
    with node(tmp_path, cluster, "--places", "1") as first:
        started = first.start(A, name="first", chat_id="c1")
        assert (started["status"], started["has_display"]) == ("ready", True)
        full = first.ask("POST", "/desktops", json={"id": B})
        assert (full.status_code, full.json()["code"]) == (409, "no_room")
        picture = first.ask("GET", f"/desktops/{A}/api/v0/desktop/screenshot")
        assert picture.headers["content-type"] == "image/png"
        act(first, A, action="left_click", coordinate=[321, 234])
        before = state(first, A)
        assert asyncio.run(greeting(first, A)) == b"RFB 003.008\n"
        first.kill()
    with node(tmp_path, cluster, "--keep-desktops") as second:
        assert second.desktops() == [A]
        assert state(second, A) == before
        # One that is ordered again is the same.
        assert second.start(A)["pid"] == started["pid"]
        second.process.send_signal(signal.SIGTERM)
        assert second.process.wait(LIMIT) == 0
    with node(tmp_path, cluster) as third:
        assert state(third, A) == before
        assert third.ask("DELETE", f"/desktops/{A}").status_code == 204
        assert third.desktops() == []
        assert third.ask("DELETE", f"/desktops/{A}").status_code == 404
        assert start_time(int(started["pid"])) is None
        third.start(B)
        pid = int(third.json("/node")["desktops"][0]["pid"])
    # Without the option its desktops end with it.
    assert start_time(pid) is None


@pytest.mark.slow("starts a desktop")
def test_the_desktops_of_a_node_end_when_no_control_plane_has_asked_for_a_while(
    cluster: Cluster, tmp_path: Path
) -> None:
    with node(tmp_path, cluster, "--linger", "5") as found:
        pid = int(found.start(A)["pid"])
        # The fleet of the node asks its desktops all the time, which does not count.
        until(lambda: start_time(pid) is None, "the end of the desktop")
        assert found.desktops() == []
        assert found.process.poll() is None
        assert start_time(int(found.start(B)["pid"])) is not None


@pytest.mark.slow("starts a desktop")
def test_a_viewer_reaches_the_node_with_a_ticket_until_its_credential_is_revoked(
    cluster: Cluster, tmp_path: Path
) -> None:
    public = ("--public-listen", "127.0.0.1:0", "--public-url", "ws://node.example.com")
    with node(tmp_path, cluster, *public, environment={"DESKHAND_INSECURE": "1"}) as found:
        found.start(A)
        assert found.json("/node")["public_url"] == "ws://node.example.com"
        ticket = _ticket(found)
        asyncio.run(_view(found, ticket))
        found.kill()
    with node(tmp_path, cluster, *public, environment={"DESKHAND_INSECURE": "1"}) as restarted:
        assert restarted.desktops() == [A]
        asyncio.run(_refused(restarted, ticket))


def _ticket(node: Node) -> str:
    signer = TicketSigner.of_folder(node.cluster.folder / "p1")
    fields = LiveTicket("t1", "n7", A, "control", time.time() + 30, caller="ci", via=("token-1",))
    return signer.sign(fields)


def _live(node: Node, ticket: str) -> str:
    base = str(node.ready["viewers"]).replace("http", "ws", 1)
    return f"{base}/live/{A}?ticket={ticket}"


async def _refused(node: Node, ticket: str) -> None:
    with pytest.raises(InvalidStatus):
        async with connect(_live(node, ticket), proxy=None):
            pass


async def _view(node: Node, ticket: str) -> None:
    opening = connect(_live(node, ticket), proxy=None)
    async with asyncio.timeout(LIMIT), opening as websocket:
        assert await websocket.recv() == b"RFB 003.008\n"
        await _refused(node, ticket)
        body = {"credentials": ["token-1"]}
        answer = await asyncio.to_thread(node.ask, "POST", "/revocations", json=body)
        assert answer.status_code == 204
        with pytest.raises(ConnectionClosed):
            await websocket.recv()


@pytest.mark.slow("starts a desktop that records")
def test_the_recording_of_a_killed_desktop_is_served_and_removed(
    cluster: Cluster, tmp_path: Path
) -> None:
    with node(tmp_path, cluster) as found:
        started = found.start(A)
        base = f"/desktops/{A}/api/v0/desktop"
        begun = found.ask("POST", f"{base}/recording/start", json={"recording_id": RECORDING})
        assert begun.status_code == 200, begun.text
        act(found, A, action="mouse_move", coordinate=[300, 300])
        place = f"/remains/{A}/{RECORDING}"
        os.kill(int(started["pid"]), signal.SIGKILL)
        (left,) = until(lambda: found.json("/remains")["recordings"], "what it left", LIMIT)
        assert (left["desktop_id"], left["recording_id"]) == (A, RECORDING)
        assert "1.mp4" in left["files"]
        video = found.ask("GET", f"{place}/1.mp4")
        assert video.status_code == 200
        assert video.content[4:8] == b"ftyp"
        assert found.ask("DELETE", place).status_code == 204
        assert found.json("/remains")["recordings"] == []
        assert found.desktops() == []


@pytest.mark.slow("starts the daemon")
def test_only_control_planes_that_are_not_revoked_reach_a_node(
    cluster: Cluster, tmp_path: Path
) -> None:
    with node(tmp_path, cluster) as found:
        assert found.json("/healthz") == {"status": "ok"}
        assert found.ask("GET", "/node", cluster.n8).status_code == 403
        anonymous = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        anonymous.load_verify_locations(cluster.folder / "p1" / "ca.pem")
        named = {"sni_hostname": found.host}
        with (
            httpx2.Client(verify=anonymous, trust_env=False) as http,
            pytest.raises(httpx2.TransportError),
        ):
            http.get(f"{found.ready['url']}/healthz", extensions=named)
        with pytest.raises(httpx2.TransportError):
            httpx2.get(f"http://127.0.0.1:{found.port}/healthz", trust_env=False)
        plane = cluster.plane
        cluster.files.revoke(plane.own.member, plane.own.not_after)
        cluster.spread_revocations()

        def refused() -> str | None:
            # A connection that is open when the gate reads of the revocation is closed.
            with suppress(httpx2.RemoteProtocolError):
                answer = found.ask("GET", "/node")
                return str(answer.json()["code"]) if answer.status_code == 403 else None
            return None

        assert until(refused, "the refusal", LIMIT) == "peer_refused"


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="reads the memory of processes of other users")
@pytest.mark.slow("starts a desktop, and reads the memory of the daemon")
def test_secrets_of_its_starter_are_nowhere_in_a_node(cluster: Cluster, tmp_path: Path) -> None:
    marked = {**SECRETS, "LC_PAPER": "kept-4d1f"}
    with node(tmp_path, cluster, environment=marked) as found:
        desktop = found.start(A)
        daemon = psutil.Process(found.process.pid)
        searched = [daemon, *daemon.children(recursive=True), psutil.Process(int(desktop["pid"]))]
        searched += searched[-1].children(recursive=True)
        assert len(searched) > 4
        places = {place for one in searched for place in _places(one.pid, CANARY.encode())}
        assert not places
        # Nor is the key that signs tickets, or a secret, in a file that it has.
        signing = (cluster.folder / "p1" / KEY).read_bytes()
        files = [one for of in (tmp_path / "data", cluster.folder / "n7") for one in of.rglob("*")]
        assert len([one for one in files if one.is_file()]) > 4
        for content in (CANARY.encode(), signing.splitlines()[1]):
            assert not [one for one in files if _contains(one, content)]
        # What the daemon keeps is found, so that the search works.
        kept = list(_places(daemon.pid, b"kept-4d1f"))
        assert f"/proc/{daemon.pid}/environ" in kept
        assert [one for one in kept if "mem" in one]


def _places(pid: int, wanted: bytes) -> Iterator[str]:
    """Yield where a process has some bytes: environment, arguments, open files, memory."""
    folder = Path(f"/proc/{pid}")
    try:
        for name in ("environ", "cmdline"):
            if wanted in (folder / name).read_bytes():
                yield str(folder / name)
        for link in (folder / "fd").iterdir():
            if _contains(link, wanted):
                yield f"{link} {link.readlink()}"
        maps = (folder / "maps").read_text().splitlines()
        with io.FileIO(folder / "mem") as memory:
            for line in maps:
                found = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
                if found and "[v" not in line and _holds(memory, found, wanted):
                    yield f"{folder}/mem {line}"
    except (FileNotFoundError, ProcessLookupError):
        # It has ended.
        return


def _contains(link: Path, wanted: bytes) -> bool:
    try:
        return link.is_file() and wanted in link.read_bytes()
    except OSError:
        # A file of a device or of the kernel.
        return False


def _holds(memory: io.FileIO, region: re.Match[str], wanted: bytes) -> bool:
    begin, end = int(region[1], 16), int(region[2], 16)
    try:
        memory.seek(begin)
        return wanted in (memory.read(end - begin) or b"")
    except (OSError, OverflowError, ValueError):
        # Memory of a device.
        return False
