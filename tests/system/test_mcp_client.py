"""Servers of `.mcp.json` on real desktops: their tools, their user, and their end."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.system.services import (
    PATIENCE,
    Service,
    descendants_of,
    marked,
    reserved_port,
    service_pid,
    tidy,
    until,
)

pytestmark = pytest.mark.x11

REMOTE = Path(__file__).parents[1] / "data" / "mcp" / "remote_server.py"
TOOLS = ("echo", "caller", "hang")
SCRIPT = Path(__file__).parents[1] / "data" / "mcp" / "notes_server.py"
PYTHON = "/usr/bin/python3"
MARK = b"DESKHAND_MCP_SERVER="
PRIVATE = {"action": "take", "name": "Ann", "private": True}

Json = dict[str, Any]


class Agent:
    """The agent of a desktop, which writes `.mcp.json`."""

    def __init__(self, desktop: Service) -> None:
        self.desktop = desktop
        started = desktop.post("/api/v0/processes/start", {"command": "pwd; id -u"})
        answer = desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true")
        self.folder, self.user = str(answer["output"]).split()
        self.instance = desktop.get("/api/v0/desktop")["instance_id"]
        self.write("notes_server.py", SCRIPT.read_bytes())

    def write(self, name: str, content: bytes) -> None:
        params = {"path": f"{self.folder}/{name}"}
        answer = self.desktop.http.post("/api/v0/write-file", params=params, content=content)
        assert answer.is_success, answer.text

    def configure(self, **servers: list[str]) -> None:
        """Write the servers, given by their modes."""
        script = f"{self.folder}/notes_server.py"
        entries = {
            name: {"command": PYTHON, "args": ["-SE", script, *modes]}
            for name, modes in servers.items()
        }
        self.write(".mcp.json", json.dumps({"mcpServers": entries}).encode())

    def catalog(self, query: str = "") -> Json:
        return self.desktop.get(f"/api/v0/mcp/tools{query}")

    def approve_all(self) -> None:
        digests = [one["digest"] for one in self.catalog()["servers"]]
        self.desktop.post("/api/v0/mcp-approvals", {"digests": digests})

    def call(self, name: str, **arguments: str) -> httpx2.Response:
        body = {"tool_name": name, "arguments": arguments}
        return self.desktop.http.post("/api/v0/mcp/call-tool", json=body)

    def facts(self, server: str) -> Json:
        """What a server reports about its process."""
        answer = self.call(f"{server}__environment", text="DISPLAY")
        assert answer.is_success, answer.text
        facts: Json = json.loads(answer.json()["content"][0]["text"])
        return facts

    def servers(self) -> list[tuple[int, str]]:
        """The processes of servers, as the host sees them."""
        return marked(self.instance, MARK)


def groups(processes: list[tuple[int, str]]) -> set[str]:
    """Control groups of processes."""
    return {Path(f"/proc/{pid}/cgroup").read_text() for pid, _ in processes}


@pytest.fixture
def agent(desktop: Service) -> Iterator[Agent]:
    found = Agent(desktop)
    yield found
    found.configure()
    # Without a request.
    until(lambda: not found.servers(), "the end of all servers")
    assert found.catalog() == {"tools": [], "servers": []}


def test_approved_servers_have_tools_and_run_as_the_agent(agent: Agent) -> None:
    agent.configure(notes=[], other=["slow", "child"])
    listed = agent.catalog()
    assert listed["tools"] == []
    assert [one["state"] for one in listed["servers"]] == ["needs_approval"] * 2
    assert agent.servers() == []
    refused = agent.call("notes__echo", text="hi")
    assert refused.status_code == 502
    assert refused.json()["message"] == "MCP tool call failed."
    agent.approve_all()
    names = [tool["name"] for tool in agent.catalog()["tools"]]
    tools = ("echo", "environment", "fail", "picture")
    assert names == [f"{server}__{tool}" for server in ("notes", "other") for tool in tools]
    assert agent.call("other__echo", text="hi").json() == {
        "content": [{"type": "text", "text": "hi", "data": "", "media_type": ""}],
        "is_error": False,
    }
    facts = agent.facts("notes")
    assert (str(facts["uid"]), facts["cwd"]) == (agent.user, agent.folder)
    assert facts["value"].startswith(":")
    assert facts["pid"] == facts["group"]
    assert agent.call("echo").status_code == 400
    assert agent.call("nothing__echo").status_code == 404
    assert agent.call("notes__fail").json()["is_error"] is True


def test_a_private_take_over_refuses_calls_and_stops_servers_as_commands(agent: Agent) -> None:
    status = agent.desktop.get("/api/v0/desktop")
    if status["level"] != "user":
        pytest.skip("the agent has no user of its own here")
    agent.configure(notes=[])
    agent.approve_all()
    agent.catalog()
    agent.desktop.post("/api/v0/processes/start", {"command": "exec sleep 100"})
    commands = until(lambda: marked(agent.instance, b"DESKHAND_PROCESS="), "the command")
    # What is stopped during a private take-over is the group of the commands.
    assert groups(agent.servers()) == groups(commands)
    agent.desktop.post("/api/v0/desktop/lease", PRIVATE)
    refused = agent.call("notes__echo", text="hi")
    assert (refused.status_code, refused.json()["code"]) == (409, "human_in_control")
    assert agent.desktop.http.delete("/api/v0/desktop/lease").is_success
    assert agent.call("notes__echo", text="hi").is_success


@contextmanager
def remote_servers(*transports: str) -> Iterator[list[int]]:
    """Servers of the official SDK outside of the desktop; yield their ports."""
    ports = []
    with ExitStack() as stack:
        for transport in transports:
            ports.append(stack.enter_context(reserved_port()))
            command = [sys.executable, str(REMOTE), transport, "127.0.0.1", str(ports[-1])]
            process = stack.enter_context(subprocess.Popen(command, stderr=subprocess.DEVNULL))
            stack.callback(process.kill)
        until(lambda: all(connectable(port) for port in ports), "the servers")
        yield ports


def connectable(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def connected(port: int) -> int:
    """Number of connections to a local port, of all processes."""
    rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
    columns = (row.split() for row in rows)
    return sum(one[2].endswith(f":{port:04X}") and one[3] == "01" for one in columns)


def owners(port: int) -> set[str]:
    """Users who have connected to a local port."""
    rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
    columns = (row.split() for row in rows)
    return {one[7] for one in columns if one[2].endswith(f":{port:04X}") and one[3] == "01"}


@pytest.mark.slow("two servers and the desktop load the library of MCP")
def test_servers_over_http_and_sse_are_reached_by_connections_of_the_agent(agent: Agent) -> None:
    with remote_servers("http", "sse") as ports:
        first, second = (f"http://127.0.0.1:{port}" for port in ports)
        headers = {"X-Key": "${HOME}"}
        servers = {
            "web": {"url": f"{first}/mcp", "headers": headers},
            "old": {"url": f"{second}/sse", "type": "sse", "headers": headers},
        }
        agent.write(".mcp.json", json.dumps({"mcpServers": servers}).encode())
        assert {one["state"] for one in agent.catalog()["servers"]} == {"needs_approval"}
        assert [connected(port) for port in ports] == [0, 0]
        agent.approve_all()
        names = [tool["name"] for tool in agent.catalog()["tools"]]
        assert names == [f"{server}__{tool}" for server in ("old", "web") for tool in TOOLS]
        home = agent.desktop.post("/api/v0/processes/start", {"command": "printf %s $HOME"})
        path = agent.desktop.get(f"/api/v0/processes/{home['id']}/output?wait=true")["output"]
        if agent.desktop.get("/api/v0/desktop")["level"] == "user":
            assert {owner for port in ports for owner in owners(port)} == {agent.user}
        for server in ("web", "old"):
            answer = agent.call(f"{server}__caller").json()
            assert answer["content"][0]["text"] == f"127.0.0.1 {path}"
        agent.desktop.post("/api/v0/desktop/lease", PRIVATE)
        refused = agent.call("web__echo", text="hi")
        assert (refused.status_code, refused.json()["code"]) == (409, "human_in_control")
        assert agent.desktop.http.delete("/api/v0/desktop/lease").is_success
        agent.write(".mcp.json", b"{}")
        until(lambda: [connected(port) for port in ports] == [0, 0], "the end of connections")
        assert agent.catalog() == {"tools": [], "servers": []}


@pytest.mark.soak
def test_a_private_take_over_cancels_calls_of_servers_elsewhere(
    agent: Agent, tmp_path: Path
) -> None:
    if agent.desktop.get("/api/v0/desktop")["level"] != "user":
        pytest.skip("the agent has no user of its own here")
    with remote_servers("http", "sse") as ports, ThreadPoolExecutor(2) as requests:
        servers = {
            "web": {"url": f"http://127.0.0.1:{ports[0]}/mcp"},
            "old": {"url": f"http://127.0.0.1:{ports[1]}/sse", "type": "sse"},
        }
        agent.write(".mcp.json", json.dumps({"mcpServers": servers}).encode())
        agent.approve_all()
        assert len(agent.catalog()["tools"]) == 2 * len(TOOLS)
        marks = [tmp_path / name for name in servers]
        calls = [
            requests.submit(agent.call, f"{mark.name}__hang", text=str(mark)) for mark in marks
        ]
        until(lambda: all(mark.exists() for mark in marks), "both calls")
        agent.desktop.post("/api/v0/desktop/lease", PRIVATE)
        for call in calls:
            answer = call.result(PATIENCE)
            assert answer.status_code == 502, answer.text
            assert "the call was cancelled" in answer.json()["detail"]
        assert agent.desktop.http.delete("/api/v0/desktop/lease").is_success
        assert agent.call("web__echo", text="hi").is_success


@pytest.mark.soak
def test_servers_end_with_a_killed_service(tmp_path: Path) -> None:
    with tidy(tmp_path / "errors.log", "--trust-mcp-servers") as desktop:
        agent = Agent(desktop)
        agent.configure(one=["child"], two=["child", "slow"])
        assert len(agent.catalog()["tools"]) == 8
        assert len(agent.servers()) == 4
        os.kill(service_pid(desktop.ready["pid"]), signal.SIGKILL)
        until(lambda: not agent.servers(), "the end of all servers")
        desktop.process.wait(PATIENCE)
        assert descendants_of(agent.instance) == []


@pytest.mark.soak
@pytest.mark.parametrize("times", [5, pytest.param(41, marks=pytest.mark.full)])
def test_reloads_leave_no_process(tmp_path: Path, times: int) -> None:
    with tidy(tmp_path / "errors.log", "--trust-mcp-servers") as desktop:
        agent = Agent(desktop)
        for number in range(times):
            agent.configure(same=["child"], changed=["child", str(number)])
            with ThreadPoolExecutor(3) as requests:
                listed = list(requests.map(lambda _: agent.catalog(), range(3)))
            assert [len(one["tools"]) for one in listed] == [8] * 3
        until(lambda: len(agent.servers()) == 4, "the end of replaced servers")
        first = agent.facts("same")["pid"]
        agent.configure(same=["child"])
        assert len(agent.catalog()["tools"]) == 4
        assert agent.facts("same")["pid"] == first
        until(lambda: len(agent.servers()) == 2, "the end of the removed server")
