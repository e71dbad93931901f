"""The API of a node, over real TLS."""

import asyncio
from pathlib import Path

import pytest

from deskhand.tools.fleet.desktop_order import DesktopOrder
from tests.tools.cluster.gate.gates import A, B, OpenGate, described, played


def order(desktop_id: str, **fields: object) -> dict[str, object]:
    return {**DesktopOrder(desktop_id).to_json(), **fields}


def test_a_node_describes_itself_and_its_desktops(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        gate.fleet.infos[B] = described(B, status="lost")
        found = (await gate.ask("GET", "/node")).json()
        (desktop,) = found.pop("desktops")
        assert found == {
            "name": "n7",
            "version": "1.0",
            "places": 2,
            "room_problem": "",
            "draining": False,
            "public_url": "wss://n7.example.com",
            "profiles": ["shop", "taken"],
        }
        assert (desktop["id"], desktop["size"], desktop["template"]) == (A, [1280, 720], "")
        assert (await gate.ask("GET", "/healthz")).json() == {"status": "ok"}
        metrics = (await gate.ask("GET", "/metrics")).text
        assert 'deskhand_node_desktops{state="running"} 1' in metrics
        assert len(gate.seen) == 3

    played(tmp_path, scenario)


def test_an_ordered_desktop_is_started_once_however_often_it_is_ordered(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        gate.fleet.gate.clear()
        body = order(B, name="second", template="office", recipe="size: 1024x768", profile="shop")
        first = asyncio.create_task(gate.ask("POST", "/desktops", json=body))
        await gate.fleet.begun.wait()
        again = asyncio.create_task(gate.ask("POST", "/desktops", json=body))
        # A further one has no place while this one is starting.
        full = await gate.ask("POST", "/desktops", json=order("cccccccc"))
        assert (full.status_code, full.json()["code"]) == (409, "no_room")
        gate.fleet.gate.set()
        answers = [await first, await again, await gate.ask("POST", "/desktops", json=body)]
        assert [one.status_code for one in answers] == [200, 200, 200]
        assert answers[0].json() == answers[1].json() == answers[2].json()
        assert (answers[0].json()["name"], answers[0].json()["template"]) == ("second", "office")
        ((_, given),) = gate.fleet.started
        assert given["profile"] == "shop"
        assert gate.fleet.templates.get("office").size == "1024x768"

    played(tmp_path, scenario)


def test_orders_are_records_of_the_audit_log_with_the_control_plane(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        gate.fleet.gate.set()
        await gate.ask("POST", "/desktops", json=order(B, chat_id="chat-1"))
        await gate.ask("POST", "/desktops", json=order("no id"))
        await gate.ask("DELETE", f"/desktops/{B}")
        await gate.ask("DELETE", f"/desktops/{B}")
        await gate.ask("GET", "/node")
        assert gate.notes == [
            ("p1", "node.start", B, {"chat": "chat-1"}),
            ("p1", "node.end", B, {}),
        ]

    played(tmp_path, scenario)


def test_a_start_goes_on_without_the_control_plane_that_has_ordered_it(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        gate.fleet.gate.clear()
        leaving = asyncio.create_task(gate.ask("POST", "/desktops", json=order(B)))
        await gate.fleet.begun.wait()
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        gate.fleet.gate.set()
        assert (await gate.ask("POST", "/desktops", json=order(B))).status_code == 200
        assert len(gate.fleet.started) == 1

    played(tmp_path, scenario)


def test_a_desktop_that_is_starting_can_be_ended(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        gate.fleet.gate.clear()
        starting = asyncio.create_task(gate.ask("POST", "/desktops", json=order(B)))
        await gate.fleet.begun.wait()
        assert (await gate.ask("DELETE", f"/desktops/{B}")).status_code == 204
        answer = await starting
        assert (answer.status_code, answer.json()["code"]) == (409, "not_started")
        assert gate.desktops.starting == 0

    played(tmp_path, scenario)


def test_all_desktops_are_ended_also_those_that_are_starting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(gate: OpenGate) -> None:
        gate.fleet.gate.clear()
        starting = asyncio.create_task(gate.ask("POST", "/desktops", json=order(B)))
        await gate.fleet.begun.wait()
        assert await gate.desktops.stop_all() == 2
        assert (await starting).json()["code"] == "not_started"
        assert (gate.fleet.infos, await gate.desktops.stop_all()) == ({}, 0)
        gate.fleet.infos[A] = described(A)
        gate.fleet.stop_failure = OSError("no launcher")
        assert await gate.desktops.stop_all() == 1
        assert "a desktop did not end" in caplog.text

    played(tmp_path, scenario)


def test_orders_that_cannot_be_carried_out_are_refused_with_a_code(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        async def refused(body: object, status: int, code: str, part: str) -> None:
            answer = await gate.ask("POST", "/desktops", json=body)
            assert (answer.status_code, answer.json()["code"]) == (status, code)
            assert part in answer.json()["message"]

        await refused(order("../etc"), 400, "bad_order", "no id of a desktop")
        await refused({"id": B, "odd": 1}, 400, "bad_order", "odd")
        await refused([], 400, "bad_order", "object")
        egress = {"mode": "all", "allow": [], "grants": [], "required": True}
        await refused(order(B, egress=egress), 400, "bad_order", "egress")
        await refused(order(B, egress={"mode": "open"}), 400, "bad_order", "allow")
        await refused(order(B, template="office"), 400, "bad_template", "office")
        await refused(order(B, template="../a", recipe="{}"), 400, "bad_template", "name")
        wrong = order(B, template="office", recipe="colour: red")
        await refused(wrong, 400, "bad_template", "office.yaml")
        gate.fleet.failure = "no X server"
        await refused(order(B), 409, "not_started", "no X server")
        assert gate.desktops.failures == 6
        gate.desktops.drain()
        await refused(order(B), 409, "no_room", "ending")
        assert (await gate.ask("GET", "/node")).json()["draining"]
        answer = await gate.ask("POST", "/desktops", content=b"{")
        assert answer.json()["code"] == "bad_order"

    played(tmp_path, scenario)


def test_a_desktop_is_ended_and_its_display_started(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        shown = await gate.ask("POST", f"/desktops/{A}/display")
        assert (shown.status_code, shown.json()["id"], gate.fleet.shown) == (200, A, [A])
        assert (await gate.ask("DELETE", f"/desktops/{A}")).status_code == 204
        for method, path in (("DELETE", f"/desktops/{A}"), ("POST", f"/desktops/{A}/display")):
            answer = await gate.ask(method, path)
            assert (answer.status_code, answer.json()["code"]) == (404, "unknown_desktop")

    played(tmp_path, scenario)


def test_every_error_has_a_sentence_and_a_code(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        for method, path, status in (("GET", "/chats", 404), ("PUT", "/desktops", 405)):
            answer = await gate.ask(method, path)
            assert (answer.status_code, answer.json()["code"]) == (status, "no_route")
        gate.remains.left = None  # type: ignore[assignment]
        answer = await gate.ask("GET", "/remains")
        assert (answer.status_code, answer.json()["code"]) == (500, "defect")
        assert answer.json()["message"] == "The gate has failed: TypeError."

    played(tmp_path, scenario)
