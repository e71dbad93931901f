"""A client that may control one desktop seeks more than the dialects of that desktop give it."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from websockets.sync.client import connect

from tests.system.services import PATIENCE, Service, service

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

AS = "/api/v0/desktop/as"
START = {"command": "true"}


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("dialects")
    with service(folder / "errors.log", "desktop", "--speak", "osworld,cdp") as found:
        yield found


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A desktop without dialects."""
    folder = tmp_path_factory.mktemp("silent")
    with service(folder / "errors.log", "desktop") as found:
        yield found


def holder(desktop: Service, level: str, instance: str = "") -> httpx2.Client:
    named = instance or desktop.get("/api/v0/desktop")["instance_id"]
    body = {"name": level, "scopes": [f"desktop:{named}:{level}"]}
    token = desktop.post("/api/v0/tokens", body)["token"]
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.Client(base_url=desktop.url, headers=headers, timeout=PATIENCE)


def ways(client: httpx2.Client) -> dict[str, int]:
    """Try each way to commands, files and rights beside the dialects; return the statuses."""
    calls = {
        "start": client.post("/api/v0/processes/start", json=START),
        "list": client.get("/api/v0/processes/list"),
        "read": client.get("/api/v0/read-file", params={"path": "/etc/hostname"}),
        "write": client.post("/api/v0/write-file", params={"path": "/tmp/x"}, content=b"x"),
        "append": client.post("/api/v0/append-file", params={"path": "/tmp/x"}, content=b"x"),
        "remove": client.post("/api/v0/remove-path", params={"path": "/tmp/x"}),
        "make": client.post("/api/v0/make-directory", params={"path": "/tmp/x"}),
        "status": client.get("/api/v0/file-status", params={"path": "/etc/hostname"}),
        "edit": client.post("/api/v0/edit-files", json={"files": []}),
        "search": client.post("/api/v0/search", json={"pattern": "x"}),
        "secrets": client.delete("/api/v0/desktop/secrets"),
        "tokens": client.post("/api/v0/tokens", json={"name": "x", "scopes": ["admin"]}),
        "tool servers": client.post("/api/v0/mcp/call-tool", json={"name": "x", "input": {}}),
    }
    return {name: reply.status_code for name, reply in calls.items()}


def test_control_runs_commands_by_dialects_and_in_no_other_way(desktop: Service) -> None:
    with holder(desktop, "control") as client:
        done = client.post(f"{AS}/osworld/execute", json={"command": ["echo", "a"]})
        assert done.json()["output"] == "a\n"
        assert set(ways(client).values()) == {403}
    with httpx2.Client(base_url=desktop.url, headers=desktop.http.headers) as owner:
        assert owner.post("/api/v0/processes/start", json=START).is_success


def test_a_client_cannot_name_itself_a_dialect(desktop: Service) -> None:
    names = ("deskhand.dialect", "deskhand-dialect", "x-deskhand-dialect", "deskhand_dialect")
    with holder(desktop, "control") as client:
        client.headers.update(dict.fromkeys(names, "osworld"))
        assert set(ways(client).values()) == {403}
        for path in (
            f"{AS}/osworld/../../../processes/start",
            f"{AS}/osworld/%2e%2e/%2e%2e/%2e%2e/processes/start",
            f"{AS}/osworld//api/v0/processes/start",
            f"{AS}/osworld/api/v0/processes/start",
        ):
            assert client.post(path, json=START).status_code in (403, 404, 405)


def test_less_than_control_runs_nothing(desktop: Service) -> None:
    for level, instance in (("view", ""), ("control", "00000000")):
        with holder(desktop, level, instance) as client:
            refused = client.post(f"{AS}/osworld/execute", json={"command": "true"})
            assert refused.status_code == 403
            address = desktop.url.replace("http", "ws") + f"{AS}/cdp/devtools/browser/x"
            headers = {"Authorization": client.headers["authorization"]}
            with (
                pytest.raises(Exception, match="403"),
                connect(address, additional_headers=headers),
            ):
                pass


def test_without_a_dialect_control_runs_nothing(silent: Service, tmp_path: Path) -> None:
    with holder(silent, "control") as client:
        assert client.post(f"{AS}/osworld/execute", json=START).status_code == 404
        assert set(ways(client).values()) == {403}
        # MCP is on at each desktop: it must not run commands for this credential.
        body = {
            **{"jsonrpc": "2.0", "id": 1, "method": "tools/call"},
            "params": {"name": "execute", "arguments": {"command": "echo ran-it"}},
        }
        reply = client.post("/mcp", json=body, headers={"accept": "application/json"})
        assert "ran-it" not in reply.text.replace("echo ran-it", "")
