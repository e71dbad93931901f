"""Live views, which browsers open at a node with tickets."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.cluster.gate.gate import Gate, NodeFacts
from deskhand.tools.cluster.gate.live.ticket_journal import TicketJournal
from deskhand.tools.cluster.gate.live.views import LiveViews, Revocations
from deskhand.tools.cluster.gate.node_desktops import NodeDesktops
from deskhand.tools.cluster.tickets import (
    PUBLIC_KEYS,
    SKEW_SECONDS,
    VALID_SECONDS,
    LiveTicket,
    TicketReader,
    TicketSigner,
    new_key,
)
from deskhand.tools.fleet.errors import UnknownDesktop
from deskhand.tools.templates.library import TemplateLibrary
from tests.tools.cluster.certified import Cluster
from tests.tools.cluster.gate.gates import A, B, FakeFleet, FakeProfiles
from tests.tools.control_plane.fakes import local_socket, serving

LIMIT = 60.0
_ids = itertools.count(1)


@dataclass
class Views:
    """A node's public port, and the signer of its deployment."""

    address: str
    signer: TicketSigner
    app: LiveViews
    clock: list[float]
    """Added to the time."""
    notes: list[tuple[object, ...]]
    """Records of the audit log."""
    opened: list[str]
    """Query strings of the live views at desktops."""

    def ticket(self, **fields: object) -> LiveTicket:
        now = time.time() + VALID_SECONDS
        made = LiveTicket(f"t{next(_ids)}", "n7", A, "control", now, caller="ci", via=("token-1",))
        return replace(made, **fields)  # type: ignore[arg-type]

    def url(self, text: str, desktop_id: str = A, query: str = "") -> str:
        return f"ws://{self.address}/live/{desktop_id}?ticket={text}{query}"


@asynccontextmanager
async def views(folder: Path) -> AsyncIterator[Views]:
    cluster = Cluster(folder)
    opened: list[str] = []
    notes: list[tuple[object, ...]] = []
    clock = [0.0]

    async def vnc(websocket: WebSocket) -> None:
        opened.append(websocket.url.query)
        await websocket.accept()
        await websocket.send_bytes(b"RFB 003.008\n")
        async for _ in websocket.iter_bytes():
            pass

    desktop = Starlette(routes=[WebSocketRoute("/api/v0/desktop/vnc", vnc)])
    bound, address = local_socket()
    public, public_address = local_socket()
    async with (
        asyncio.timeout(LIMIT),
        serving(desktop, bound),
        DesktopClient(f"http://{address}", "token") as client,
    ):

        def clients(desktop_id: str) -> DesktopClient:
            if desktop_id != A:
                raise UnknownDesktop(desktop_id)
            return client

        reader = TicketReader(cluster.folder / "n7" / PUBLIC_KEYS, "n7")

        def note(*fields: object) -> None:
            notes.append(fields)

        with TicketJournal(folder / "tickets.jsonl", time.time()) as used:
            app = LiveViews(reader, used, clients, lambda: time.time() + clock[0], note)
            async with serving(app, public):
                signer = TicketSigner.of_folder(cluster.folder / "p1")
                yield Views(public_address, signer, app, clock, notes, opened)


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level("WARNING", "deskhand.tools.cluster.gate.live.views"):
        yield caplog


async def refused(url: str, origin: str | None = None) -> int:
    with pytest.raises(InvalidStatus) as found:
        async with connect(url, proxy=None, origin=origin):  # type: ignore[arg-type]
            pass
    return found.value.response.status_code


def test_a_ticket_opens_the_live_view_with_its_role_and_name(tmp_path: Path) -> None:
    async def main() -> None:
        async with views(tmp_path) as found:
            ticket = found.ticket(role="view", person="Ada & Co")
            url = found.url(found.signer.sign(ticket), query="&role=control&viewer=v1")
            async with connect(url, proxy=None) as view:
                assert await view.recv() == b"RFB 003.008\n"
            plain = found.url(found.signer.sign(found.ticket()))
            async with connect(plain, proxy=None) as view:
                await view.recv()
            credential = {"credential": "token-1"}
            assert found.notes == [
                ("ci", "desktop.live_view", A, {"role": "view", "person": "Ada & Co"} | credential),
                ("ci", "desktop.live_view", A, {"role": "control"} | credential),
            ]
            assert found.opened == ["role=control&viewer=v1&role=view&name=Ada%20%26%20Co", ""]

    asyncio.run(main())


def test_each_ticket_that_opens_nothing_is_refused_and_logged_once(
    tmp_path: Path, warnings: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with views(tmp_path) as found:
            sign = found.signer.sign
            used = sign(found.ticket())
            async with connect(found.url(used), proxy=None):
                pass
            head, _, signature = sign(found.ticket(role="view")).split(".")
            raised = ".".join((head, sign(found.ticket()).split(".")[1], signature))
            stranger = TicketSigner(new_key()[0]).sign(found.ticket())
            for url, reason in (
                (found.url(sign(found.ticket(node="n8"))), "for the node n8"),
                (found.url(used), "used before"),
                (found.url(stranger), "not signed"),
                (found.url(raised), "not signed"),
                (found.url(sign(found.ticket(desktop_id=B))), f"for the desktop {B}"),
                (found.url(""), "no ticket"),
                (found.url(sign(found.ticket(ends=time.time() - 1))), "credential is over"),
            ):
                warnings.clear()
                assert await refused(url) == 403
                (line,) = warnings.messages
                assert reason in line
            own = sign(found.ticket(origin="https://desk.example.com"))
            assert await refused(found.url(own), "https://other.example.com") == 403
            found.clock[0] = VALID_SECONDS + SKEW_SECONDS + 1
            warnings.clear()
            assert await refused(found.url(sign(found.ticket()))) == 403
            assert "it is over" in warnings.text
            assert len(found.opened) == 1

    asyncio.run(main())


def test_a_page_may_use_the_ticket_of_its_origin(tmp_path: Path) -> None:
    async def main() -> None:
        async with views(tmp_path) as found:
            page = "https://desk.example.com"
            url = found.url(found.signer.sign(found.ticket(origin=page)))
            async with connect(url, proxy=None, origin=page) as view:  # type: ignore[arg-type]
                assert await view.recv() == b"RFB 003.008\n"

    asyncio.run(main())


def test_a_revocation_ends_the_streams_of_a_credential_and_refuses_its_tickets(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with views(tmp_path) as found:
            sign = found.signer.sign
            other = sign(found.ticket(caller="other", via=("token-2",)))
            async with (
                connect(found.url(sign(found.ticket())), proxy=None) as view,
                connect(found.url(other), proxy=None) as kept,
            ):
                assert await view.recv() == await kept.recv() == b"RFB 003.008\n"
                waiting = sign(found.ticket())
                found.app.revoke(["token-1"])
                with pytest.raises(ConnectionClosed) as ended:
                    await view.recv()
                assert ended.value.rcvd is not None
                assert ended.value.rcvd.code == 1008
                assert await refused(found.url(waiting)) == 403
                await (await kept.ping())

    asyncio.run(main())


def test_a_stream_ends_with_its_credential(tmp_path: Path) -> None:
    async def main() -> None:
        async with views(tmp_path) as found:
            ticket = found.ticket(ends=time.time() + 0.2)
            async with connect(found.url(found.signer.sign(ticket)), proxy=None) as view:
                await view.recv()
                with pytest.raises(ConnectionClosed):
                    await view.recv()

    asyncio.run(main())


def test_nothing_else_is_served_to_viewers(tmp_path: Path) -> None:
    async def main() -> None:
        async with views(tmp_path) as found:
            unknown = found.signer.sign(found.ticket(desktop_id=B))
            assert await refused(found.url(unknown, B)) == 404
            assert await refused(f"ws://{found.address}/desktops/{A}/api/v0/desktop/vnc") == 403
            async with httpx2.AsyncClient(trust_env=False) as http:
                for path in ("/node", f"/live/{A}", f"/desktops/{A}/healthz"):
                    answer = await http.get(f"http://{found.address}{path}")
                    assert answer.status_code == 404

    asyncio.run(main())


def test_control_planes_name_the_credentials_that_were_revoked(tmp_path: Path) -> None:
    ended: list[str] = []
    notes: list[tuple[object, ...]] = []

    def note(*fields: object) -> None:
        notes.append(fields)

    async def main() -> None:
        fleet = FakeFleet("", TemplateLibrary(tmp_path))
        desktops = NodeDesktops(fleet, lambda *_: "")
        routes = Revocations(ended.extend, note).routes
        app = Gate(NodeFacts("n7", "1", 1), desktops, fleet.client, FakeProfiles(), routes)
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://n7") as http:
            body = {"credentials": ["ci", "session:" + 20 * "a"]}
            assert (await http.post("/revocations", json=body)).status_code == 204
            for wrong in ({}, {"credentials": "ci"}, {"credentials": [1]}):
                answer = await http.post("/revocations", json=wrong)
                assert (answer.status_code, answer.json()["code"]) == (400, "bad_order")

    asyncio.run(main())
    assert ended == ["ci", "session:" + 20 * "a"]
    shown = {"credentials": ["ci", "session:" + 16 * "a"]}
    assert notes == [("", "node.revocation", "", shown)]
