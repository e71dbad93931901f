import asyncio
from pathlib import Path
from typing import Any

from tests.tools.control_plane.fakes import FakeDesktop, control_plane


def test_the_status_has_version_model_free_space_and_counts(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.chats.add(state="running")
        made.chats.add(state="running")
        made.chats.add(state="queued")
        made.desktops.known = {"d1": FakeDesktop(), "d2": FakeDesktop(id="d2", status="lost")}
        async with made.client() as client:
            body = (await client.get("/api/v0/status")).json()
        assert body == {
            "version": "1.2.3",
            "model": "scripted:demo",
            "key_set": False,
            "data_dir": str(tmp_path),
            "free_bytes": 5,
            "disk": {"free_bytes": 5, "low": False},
            "chats": {"queued": 1, "running": 2, "interrupting": 0, "requires_action": 0},
            "desktops": {"ready": 1, "lost": 1},
            "desktop_limits": None,
            "protections": [],
            "event_streams": 0,
            "dropped_thinking": 0,
            "resumed_by_supervisor": 0,
        }

    asyncio.run(scenario())


def test_the_status_of_a_cluster_has_its_nodes(tmp_path: Path) -> None:
    async def cluster() -> dict[str, Any]:
        return {"nodes": [{"name": "n7"}], "desktops_waiting": 2}

    async def scenario() -> None:
        async with control_plane(tmp_path, cluster=cluster).client() as client:
            body = (await client.get("/api/v0/status")).json()
        assert (body["nodes"], body["desktops_waiting"]) == ([{"name": "n7"}], 2)

    asyncio.run(scenario())


def test_a_narrow_credential_gets_the_version_only(tmp_path: Path) -> None:
    async def scenario() -> None:
        for scope in ("chat:c1", "run:c1:conversation", "desktop:d1:control"):
            async with control_plane(tmp_path, scopes=(scope,)).client() as client:
                assert (await client.get("/api/v0/status")).json() == {"version": "1.2.3"}

    asyncio.run(scenario())


def test_health_needs_no_token(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            del client.headers["Authorization"]
            assert (await client.get("/healthz")).json() == {"status": "ok"}
            assert (await client.get("/readyz")).json() == {"status": "ready"}
            assert (await client.get("/api/v0/status")).status_code == 401

    asyncio.run(scenario())


def test_a_service_that_starts_or_closes_takes_no_requests(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path, ready=lambda: False).client() as client:
            starting = await client.get("/readyz")
        made = control_plane(tmp_path)
        made.closing.set()
        async with made.client() as client:
            closing = await client.get("/readyz")
        for reply in (starting, closing):
            assert (reply.status_code, reply.json()) == (503, {"status": "not ready"})

    asyncio.run(scenario())
