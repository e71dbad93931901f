import asyncio
from pathlib import Path

import pytest

from deskhand.desktop.errors import DesktopUnavailable
from deskhand.desktop.network.egress import Egress, EgressPolicy, Grant
from deskhand.tools.fleet.errors import DesktopNotStarted
from tests.tools.control_plane.fakes import FakeDesktop, control_plane

DESKTOPS = "/api/v0/desktops"


def test_desktops_are_listed_as_the_pages_show_them(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.desktops.known["d1"] = FakeDesktop(chat_id="c1")
        async with made.client() as client:
            body = (await client.get(DESKTOPS)).json()
        assert body == {
            "desktops": [
                {
                    "id": "d1",
                    "name": "First",
                    "status": "ready",
                    "chat_id": "c1",
                    "created_at": 1.0,
                    "live_url": "desktops/d1",
                    "level": "shared",
                    "browser_warning": "",
                    "missing_protections": [],
                    "has_display": True,
                    "egress": None,
                    "speak": [],
                    "profile": None,
                    "pid": 42,
                }
            ]
        }

    asyncio.run(scenario())


def test_a_desktop_is_started_by_name_shown_and_ended(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            started = await client.post(DESKTOPS, json={"name": " Mine "})
            assert (started.status_code, started.json()["name"]) == (201, "Mine")
            path = f"{DESKTOPS}/{started.json()['id']}"
            assert (await client.get(path)).json()["live_url"] == "desktops/d9"
            assert (await client.delete(path)).status_code == 204
            gone = await client.get(path)
            assert (gone.status_code, gone.json()["message"]) == (404, "Desktop not found.")
            assert (await client.delete(path)).status_code == 404
        assert made.chats.asked == [("vacate", started.json()["id"])]

    asyncio.run(scenario())


def test_a_desktop_speaks_what_the_request_names_or_the_setting(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            for body, spoken in (
                *(({}, ["osworld"]), ({"speak": []}, [])),
                ({"speak": ["cdp"]}, ["cdp"]),
            ):
                started = await client.post(DESKTOPS, json=body)
                assert started.json()["speak"] == spoken
            for wrong in ("cdp", ["telnet"], ["cua"], [7], None, 7):
                refused = await client.post(DESKTOPS, json={"speak": wrong})
                assert refused.status_code == 400
                assert refused.json()["message"] == "speak must be a list of dialects."

    asyncio.run(scenario())


INTERNET = Egress("internet", (), (Grant("127.0.0.1", 80),), required=False)
POLICY = EgressPolicy(INTERNET, frozenset({7777}))


def test_a_desktop_gets_the_grants_of_the_request_beside_those_of_the_setting(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path, egress=POLICY).client() as client:
            # As configured: nothing is passed on.
            assert (await client.post(DESKTOPS, json={"grants": []})).json()["egress"] is None
            grants = ["127.0.0.1:3000", "localhost:5173", "127.0.0.1:80"]
            started = await client.post(DESKTOPS, json={"grants": grants})
            every = ["127.0.0.1:80", "127.0.0.1:3000", "localhost:5173"]
            assert started.json()["egress"] == {**INTERNET.to_json(), "grants": every}

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("grants", "why"),
    [
        *((one, "grants must be a list of texts.") for one in ("127.0.0.1:1", [7], None, 7)),
        (["127.0.0.1:1"] * 65, "It has 65 addresses of 64."),
        *(([one], "is no grant such as 127.0.0.1:8000") for one in ("127.0.0.1", "a.b:1", "")),
        *(
            ([f"{host}:7777"], f"{host}:7777 is the control plane, which none may reach")
            for host in ("127.0.0.1", "127.0.0.2", "localhost", "[::1]", "10.0.0.7")
        ),
        (["127.0.0.1:3000", "localhost:7777"], "localhost:7777 is the control plane"),
        (["0.0.0.0:7777"], "'0.0.0.0:7777' is no grant"),
    ],
)
def test_with_a_wrong_grant_nothing_is_started(tmp_path: Path, grants: object, why: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path, egress=POLICY)
        async with made.client() as client:
            refused = await client.post(DESKTOPS, json={"grants": grants})
        assert refused.status_code == 400
        assert refused.json()["message"].startswith("grants ")
        assert why in f"{refused.json()['message']} {refused.json().get('detail')}"
        assert made.desktops.known == {}

    asyncio.run(scenario())


@pytest.mark.parametrize("scope", ["chat:c1", "desktop:d1:control", "run:c1:conversation"])
def test_the_credential_of_an_agent_or_a_viewer_gives_no_grant(tmp_path: Path, scope: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path, egress=POLICY, scopes=(scope,))
        async with made.client() as client:
            refused = await client.post(DESKTOPS, json={"grants": ["127.0.0.1:3000"]})
        assert refused.status_code == 403
        assert made.desktops.known == {}

    asyncio.run(scenario())


def test_one_desktop_of_several_is_shown(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.desktops.known = {"d1": FakeDesktop(), "d2": FakeDesktop(id="d2", name="Second")}
        async with made.client() as client:
            assert (await client.get(f"{DESKTOPS}/d2")).json()["name"] == "Second"

    asyncio.run(scenario())


def test_a_desktop_needs_no_name(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            assert (await client.post(DESKTOPS)).json()["name"] == "Desktop 9"
            assert (await client.post(DESKTOPS, json={"name": " "})).json()["name"] == "Desktop 9"

    asyncio.run(scenario())


def test_wrong_wishes_start_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            unknown = await client.post(DESKTOPS, json={"colour": "red"})
            long = await client.post(DESKTOPS, json={"name": "a" * 81})
        assert unknown.json()["message"] == "Unknown field: colour."
        assert long.json()["message"] == "name is too long."
        assert made.desktops.known == {}

    asyncio.run(scenario())


def test_a_desktop_that_does_not_start_is_reported_with_the_reason(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.desktops.failure = DesktopNotStarted("Xvnc is not installed")
        async with made.client() as client:
            reply = await client.post(DESKTOPS)
        assert reply.status_code == 503
        assert "Xvnc is not installed" in reply.json()["detail"]

    asyncio.run(scenario())


def test_a_desktop_that_ends_while_it_starts_is_reported(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.desktops.failure = DesktopUnavailable("no answer")
        async with made.client() as client:
            reply = await client.post(DESKTOPS)
        assert reply.status_code == 502
        assert reply.json() == {
            "message": "The desktop cannot be reached.",
            "detail": "no answer",
        }

    asyncio.run(scenario())


def test_an_unknown_template_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            reply = await client.post("/api/v0/desktops", json={"template": "nothing"})
            wrong = await client.post("/api/v0/desktops", json={"template": 3})
        assert (reply.status_code, wrong.status_code) == (400, 400)
        assert "no template has the name 'nothing'; there are office" in reply.json()["detail"]

    asyncio.run(scenario())


def test_a_desktop_gets_the_profile_that_is_named(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            made = await client.post(DESKTOPS, json={"profile": "work"})
            taken = await client.post(DESKTOPS, json={"profile": "taken"})
            wrong = await client.post(DESKTOPS, json={"profile": "../work"})
        assert (made.status_code, made.json()["profile"]) == (201, "work")
        assert (taken.status_code, wrong.status_code) == (409, 400)
        assert "in use by the desktop d1 (Desktop 1)" in taken.json()["detail"]

    asyncio.run(scenario())
