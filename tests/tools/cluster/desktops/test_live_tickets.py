"""Addresses of live views at nodes."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from deskhand.tools.cluster.desktops.gates import GateAddress
from deskhand.tools.cluster.desktops.live_tickets import LiveTickets
from deskhand.tools.cluster.desktops.placed import NodeDesktop, Placed, PlacedNode
from deskhand.tools.cluster.tickets import KEY, PUBLIC_KEYS, LiveTicket, TicketReader
from deskhand.tools.store.rows.desktops import ENDING, READY
from deskhand.vncbridge.auth.policy import Principal
from tests.tools.cluster.certified import Cluster

NOW = 1_000_000.0
N7 = GateAddress("n7", "10.0.0.7:7443")
NODE = PlacedNode(N7, is_up=True, draining=False, public_url="wss://n7.example.com/")
DESKTOP = NodeDesktop("aaaaaaaa", "chat-1", READY, N7, "", frozenset(), NOW, {}, {})
ADA = Principal(
    *("Ada", ("desktop:aaaaaaaa:control",), ("session:s", "person:ada"), NOW + 900, "person:ada"),
    person="ada",
)


def url(folder: Path, placed: Placed, bearer: Principal = ADA, seconds: float = 300.0) -> str:
    return LiveTickets(folder, lambda: placed, lambda: NOW).url(DESKTOP.id, bearer, seconds)


def read(cluster: Cluster, found: str) -> LiveTicket:
    text = parse_qs(urlsplit(found).query)["ticket"][0]
    return TicketReader(cluster.folder / "n7" / PUBLIC_KEYS, "n7").read(text, NOW)


def test_an_address_has_a_ticket_with_the_rights_of_its_bearer(tmp_path: Path) -> None:
    cluster, placed = Cluster(tmp_path), Placed({DESKTOP.id: DESKTOP}, {"n7": NODE})
    found = url(cluster.folder / "p1", placed)
    assert found.startswith("wss://n7.example.com/live/aaaaaaaa?ticket=")
    ticket = read(cluster, found)
    assert replace(ticket, id="") == LiveTicket(
        *("", "n7", DESKTOP.id, "control", NOW + 30),
        caller="Ada",
        via=("session:s", "person:ada"),
        ends=NOW + 900,
        chat_id="chat-1",
        person="Ada",
    )
    again = read(cluster, url(cluster.folder / "p1", placed))
    assert again.id != ticket.id
    guest = Principal("link", ("desktop:aaaaaaaa:view",), origin="https://desk.example")
    seen = read(cluster, url(cluster.folder / "p1", placed, guest, 5.0))
    assert (seen.role, seen.person, seen.expires_at) == ("view", "", NOW + 5)
    assert seen.origin == "https://desk.example"


@pytest.mark.parametrize(
    "placed",
    [
        Placed(),
        Placed({DESKTOP.id: DESKTOP}),
        Placed({DESKTOP.id: replace(DESKTOP, state=ENDING)}, {"n7": NODE}),
        Placed({DESKTOP.id: DESKTOP}, {"n7": replace(NODE, public_url="")}),
        Placed({DESKTOP.id: DESKTOP}, {"n7": replace(NODE, is_up=False)}),
    ],
)
def test_a_desktop_that_viewers_do_not_reach_has_no_address(tmp_path: Path, placed: Placed) -> None:
    assert url(Cluster(tmp_path).folder / "p1", placed) == ""


def test_without_the_key_live_views_go_through_the_control_plane(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = Cluster(tmp_path).folder / "p1"
    (folder / KEY).unlink()
    assert url(folder, Placed({DESKTOP.id: DESKTOP}, {"n7": NODE})) == ""
    assert "goes through this control plane" in caplog.text
