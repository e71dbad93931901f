"""Live views straight at nodes, with tickets of control planes."""

import asyncio
import json
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import psutil
import pytest
from playwright.sync_api import Page, WebSocket, expect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from deskhand.tools.cluster.tickets import (
    PUBLIC_KEYS,
    SKEW_SECONDS,
    LiveTicket,
    TicketReader,
    TicketSigner,
    new_key,
)
from tests.cluster.deployment import VIEWERS_PORT, Deployment, Node
from tests.cluster.faults.work import end_all
from tests.system.browsing import plain_connection, running_chromium
from tests.system.services import DESKHAND, PATIENCE, until

Json = dict[str, Any]
LIVENESS = 20.0
"""Limit for the end of a stream."""
VIEWED_SECONDS = 4.0

pytestmark = [pytest.mark.cluster, pytest.mark.x11, pytest.mark.root]


@pytest.fixture(scope="module")
def d(running: Deployment) -> Iterator[Deployment]:
    yield running
    end_all(running)


@pytest.fixture(scope="module")
def desktop(d: Deployment) -> str:
    return str(d.post("/api/v0/desktops", {"name": "viewed"})["id"])


def node_of(d: Deployment, desktop: str) -> Node:
    ((name,),) = d.rows(f"SELECT node FROM desktops WHERE id = '{desktop}'")
    return d.nodes[name]


def token(d: Deployment, *scopes: str) -> Json:
    """Issue a token at the first control plane."""
    with d.at(0) as client:
        answer = client.post("/api/v0/tokens", json={"name": "viewer", "scopes": list(scopes)})
        assert answer.status_code == 201, answer.text
        found: Json = answer.json()
        return found


def ticket(d: Deployment, desktop: str, bearer: str, role: str, at: int = 0) -> Json:
    """Get a ticket of a control plane."""
    with d.at(at) as client:
        path = f"/api/v0/desktops/{desktop}/desktop/tickets"
        headers = {"Authorization": f"Bearer {bearer}"}
        answer = client.post(path, json={"role": role}, headers=headers)
    found: Json = answer.json()
    return {"status": answer.status_code, **found}


def opening(d: Deployment, url: str) -> connect:
    tls = ssl.create_default_context(cafile=d.viewers.ca)
    return connect(url, ssl=tls, proxy=None, subprotocols=["binary"])  # type: ignore[list-item]


async def end_of(stream: ClientConnection) -> float:
    """Return when a stream has ended; wait for it for `LIVENESS`."""
    async with asyncio.timeout(LIVENESS):
        with suppress(ConnectionClosed):
            while True:
                await stream.recv()
    return time.monotonic()


@pytest.mark.slow("starts a cluster")
def test_a_ticket_opens_the_stream_at_the_node_until_its_token_is_revoked_at_another_plane(
    d: Deployment, desktop: str
) -> None:
    made = token(d, f"desktop:{desktop}:control")

    async def scenario() -> None:
        found = ticket(d, desktop, made["token"], "control")
        assert found["url"].startswith(f"wss://{node_of(d, desktop).host.address}:{VIEWERS_PORT}/")
        async with opening(d, found["url"]) as stream:
            assert await stream.recv() == b"RFB 003.008\n"
            with d.at(1) as other:
                revoked = await asyncio.to_thread(other.delete, f"/api/v0/tokens/{made['id']}")
            assert revoked.status_code == 204
            begun = time.monotonic()
            print("the stream ends after", round(await end_of(stream) - begun, 3), "s")
            assert stream.close_code == 1008

    asyncio.run(scenario())


@pytest.mark.slow("starts a cluster")
def test_a_stream_ends_also_when_the_control_plane_of_the_revocation_is_killed_at_once(
    d: Deployment, desktop: str
) -> None:
    made = token(d, f"desktop:{desktop}:view")

    async def scenario() -> None:
        found = ticket(d, desktop, made["token"], "view")
        async with opening(d, found["url"]) as stream:
            await stream.recv()
            # What a control plane writes before it could report it to nodes.
            name = f"token:{made['id']}"
            d.rows(f"DELETE FROM issued_tokens WHERE id = '{made['id']}'")
            now = "extract(epoch from clock_timestamp())"
            d.rows(f"INSERT INTO credential_ends (name, at) VALUES ('{name}', {now})")
            begun = time.monotonic()
            print("the stream ends after", round(await end_of(stream) - begun, 3), "s")

    asyncio.run(scenario())


@pytest.mark.slow("starts a cluster")
def test_each_ticket_that_opens_nothing_is_refused_and_logged_once_at_its_gate(
    d: Deployment, desktop: str
) -> None:
    node = node_of(d, desktop)
    (other,) = (one for one in d.nodes.values() if one is not node)
    guest = token(d, f"desktop:{desktop}:view")["token"]
    raised = ticket(d, desktop, guest, "control")
    assert (raised["status"], "url" in raised) == (403, False)
    signer = TicketSigner.of_folder(d.certificates)

    def refusals(gate: Node) -> list[str]:
        lines = gate.log.read_text().splitlines()
        return [line for line in lines if "a ticket for the desktop" in line]

    async def refused(gate: Node, url: str, reason: str) -> None:
        before = len(refusals(gate))
        with pytest.raises(InvalidStatus) as found:
            async with opening(d, url):
                pass
        assert found.value.response.status_code == 403
        (line,) = refusals(gate)[before:]
        assert reason in line

    async def scenario() -> None:
        url = ticket(d, desktop, guest, "view", at=1)["url"]
        text = url.partition("?ticket=")[2]
        place = f"{VIEWERS_PORT}/live/{desktop}?ticket="
        own, foreign = f"{node.host.address}:{place}", f"{other.host.address}:{place}"
        await refused(other, f"wss://{foreign}{text}", f"for the node {node.host.name}")
        async with opening(d, url) as stream:
            await stream.recv()
        await refused(node, url, "used before")
        reader = TicketReader(d.certificates.parent / node.host.name / PUBLIC_KEYS, node.host.name)
        good = reader.read(text, time.time())
        assert (good.role, good.chat_id) == ("view", "")

        def signed(by: TicketSigner = signer, **fields: Any) -> str:
            return f"wss://{own}{by.sign(replace(good, **{'id': 'another', **fields}))}"

        over = time.time() - SKEW_SECONDS - 1
        await refused(node, signed(expires_at=over), "it is over")
        await refused(node, signed(TicketSigner(new_key()[0])), "not signed by this deployment")
        head, _, signature = text.split(".")
        body = signer.sign(LiveTicket(*("x", good.node, desktop, "control", good.expires_at)))
        changed = ".".join((head, body.split(".")[1], signature))
        await refused(node, f"wss://{own}{changed}", "not signed by this deployment")

    asyncio.run(scenario())


@pytest.mark.slow("starts a cluster")
def test_the_chains_of_control_planes_and_nodes_are_verified_together(
    d: Deployment, desktop: str
) -> None:
    made = token(d, f"desktop:{desktop}:view")

    async def watched() -> None:
        # A control plane reports the end of a token to a node that shows a desktop for it.
        async with opening(d, ticket(d, desktop, made["token"], "view")["url"]) as stream:
            await stream.recv()
            with d.at(1) as other:
                revoked = await asyncio.to_thread(other.delete, f"/api/v0/tokens/{made['id']}")
            assert revoked.status_code == 204
            await end_of(stream)

    asyncio.run(watched())
    files = [node.data / "audit.jsonl" for node in d.nodes.values()]

    def audit(*options: str) -> Any:
        given = [part for file in files if file.exists() for part in ("--file", str(file))]
        command = [DESKHAND, "audit", *options, *given, "--json"]
        command += ["--url", d.planes[0].ready["url"], "--data-dir", str(d.folder / "data-p1")]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(answer.stdout)

    def writers_of_all() -> set[str]:
        found = audit("--verify")
        assert found["intact"], found
        return {one["writer"] for one in found["heads"]}

    noted = [file for file in files if file.exists()]
    until(lambda: any(b"node.revocation" in file.read_bytes() for file in noted), "a record")
    own = {(d.folder / f"data-p{number}" / "instance").read_text() for number in (1, 2)}
    assert len(own) == 2
    # A control plane writes its records after its answers.
    until(lambda: own < writers_of_all(), "the chains of both control planes")
    writers = writers_of_all()
    assert {one[:3] for one in writers - own} <= {"n1-", "n2-"}
    actions = {one["action"] for one in audit("--limit", "1000")["records"]}
    assert {"node.start", "node.revocation", "request"} <= actions


@pytest.mark.slow("starts a cluster, and watches a desktop for seconds")
def test_a_control_plane_does_nothing_for_a_stream_at_a_node(d: Deployment, desktop: str) -> None:
    made = token(d, f"desktop:{desktop}:view")
    planes = [psutil.Process(one.pid) for one in d.planes]

    def used() -> float:
        return sum(sum(one.cpu_times()[:2]) for one in planes)

    async def scenario() -> None:
        begun = used()
        await asyncio.sleep(VIEWED_SECONDS)
        rest = used() - begun
        found = ticket(d, desktop, made["token"], "view")
        async with opening(d, found["url"]) as stream:
            await stream.recv()
            begun = used()
            await asyncio.sleep(VIEWED_SECONDS)
            viewed = used() - begun
        print(f"processor time of the planes in {VIEWED_SECONDS} s: {rest=:.2f} {viewed=:.2f}")

    asyncio.run(scenario())


@pytest.fixture(scope="module")
def page(d: Deployment, desktop: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page of a person who has signed in at the first control plane."""
    with (
        running_chromium(tmp_path_factory.mktemp("chromium")) as address,
        plain_connection(address) as browser,
    ):
        context = browser.new_context(ignore_https_errors=True)
        url = d.planes[0].ready["url"]
        page = context.new_page()
        page.goto(f"{url}/login#code={d.planes[0].ready['token']}")
        page.wait_for_url(f"{url}/")
        yield page
        context.close()


def watched(page: Page, d: Deployment, desktop: str) -> list[str]:
    """Open the page of a desktop until it is live; return the hosts of its RFB streams."""
    opened: list[str] = []

    def note(socket: WebSocket) -> None:
        if "/live/" in socket.url or socket.url.partition("?")[0].endswith("/vnc"):
            opened.append(socket.url.split("/")[2])

    page.on("websocket", note)
    page.goto(f"{d.planes[0].ready['url']}/desktops/{desktop}")
    live = page.locator(".viewer[data-state=connected]")
    expect(live).to_be_visible(timeout=4 * PATIENCE * 1000)
    page.remove_listener("websocket", note)
    return opened


@contextmanager
def dropped(address: str) -> Iterator[None]:
    """Drop what is sent to an address while the block runs, as a firewall does."""
    host, _, port = address.partition(":")
    table = "inet deskhand_test_viewers"
    rules = (
        f"table {table} {{\nchain out {{\ntype filter hook output priority 0;\n"
        f"ip daddr {host} tcp dport {port} drop\n}}\n}}\n"
    )
    subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True)
    try:
        yield
    finally:
        subprocess.run(["nft", "delete", "table", *table.split()], check=True)


@pytest.mark.browser
@pytest.mark.slow("starts a cluster and a browser")
def test_a_page_opens_its_stream_at_the_node_and_at_the_plane_where_it_cannot(
    d: Deployment, desktop: str, page: Page
) -> None:
    plane = d.planes[0].ready["url"].split("/")[2]
    node = f"{node_of(d, desktop).host.address}:{VIEWERS_PORT}"
    assert watched(page, d, desktop) == [node]
    with dropped(node):
        begun = time.monotonic()
        assert watched(page, d, desktop) == [node, plane]
        print("live through the plane after", round(time.monotonic() - begun, 1), "s")
    assert watched(page, d, desktop) == [node]
