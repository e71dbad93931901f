"""What an agent reaches over the network, by commands and by pages."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.isolation.user_processes import user_pids
from tests.attack.outside import ADDRESS, QUIC_PORT, STUN_PORT
from tests.attack.virtual_network import (
    AZURE,
    HOST,
    METADATA,
    PRIVATE,
    VirtualNetwork,
    virtual_network,
)
from tests.system.services import DESKHAND, Json, Service, service, service_pid, until

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

TREE = "/api/v0/desktop/accessibility"
DESKTOPS = "/api/v0/desktops"
LOOPBACK_PORT = 8099
PLANE_PORT = 7778
MCP_PORTS = {"http": 8097, "sse": 8098}
RULE = "(egress, mode list: allowed.test, *.docs.test)"
CHROMIUM = (
    "chromium --headless --no-first-run --disable-gpu --user-data-dir=$(mktemp -d)"
    " --no-sandbox --disable-dev-shm-usage --disable-features=LocalNetworkAccessChecks"
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    # Short, as sockets are in it, and readable, as browsers of other users read it.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="egress-") as made:
        yield Path(made)


@pytest.fixture(scope="module")
def network(folder: Path) -> Iterator[VirtualNetwork]:
    with virtual_network(folder) as made:
        yield made


@pytest.fixture(scope="module")
def targets(network: VirtualNetwork, folder: Path) -> Iterator[dict[str, str]]:
    """Addresses that no agent should reach: each answers on the host."""
    page = "from http.server import *; HTTPServer(('127.0.0.1', 8099), BaseHTTPRequestHandler)"
    with ExitStack() as stack:
        stack.enter_context(_started(network.on_host("python3", "-c", f"{page}.serve_forever()")))
        data, listen = folder / "data", f"0.0.0.0:{PLANE_PORT}"
        stack.enter_context(
            _on_host(
                *(network, folder, "up", "--data-dir", str(data), "--listen", listen),
                "--insecure",
            )
        )
        other = stack.enter_context(_on_host(network, folder, "desktop"))
        yield {
            "the control plane": f"http://127.0.0.1:{PLANE_PORT}/healthz",
            "the control plane by the host's address": f"http://{HOST}:{PLANE_PORT}/healthz",
            "another desktop": f"{other.url}/healthz",
            "the host's loopback": f"http://127.0.0.1:{LOOPBACK_PORT}/",
            "slirp's name of the host's loopback": f"http://10.0.2.2:{LOOPBACK_PORT}/",
            "metadata of a cloud": f"http://{METADATA}/",
            "the host of an Azure machine": f"http://{AZURE}/",
            "a private network": f"http://{PRIVATE}/",
            "a name of the loopback address": f"http://inside.test:{PLANE_PORT}/healthz",
        }


@contextmanager
def _started(command: list[str]) -> Iterator[None]:
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


@contextmanager
def _on_host(
    network: VirtualNetwork, folder: Path, *arguments: str, egress: str = "open"
) -> Iterator[Service]:
    name = f"errors-{'-'.join(arguments[:3]).replace('/', '-')}.log"
    program, setting = network.on_host(DESKHAND), {"DESKHAND_EGRESS": egress}
    with service(folder / name, *arguments, program=program, environment=setting) as found:
        yield found


@contextmanager
def desktop_with(network: VirtualNetwork, folder: Path, *egress: str) -> Iterator[Service]:
    """A desktop of the host's; its service answers on a socket, as the host's ports are apart."""
    sockets = Path(tempfile.mkdtemp(dir=folder))
    listen = ("--listen", f"unix:{sockets}/api.sock")
    errors = Path(tempfile.mkdtemp(dir=folder)) / "errors.log"
    with service(errors, "desktop", *listen, *egress, host=network.pid) as found:
        yield found


def output(desktop: Service, command: str) -> str:
    """Run a command as an agent does and return what it printed."""
    started = desktop.post("/api/v0/processes/start", {"command": command})["id"]
    return str(desktop.get(f"/api/v0/processes/{started}/output?wait=true")["output"])


def reaches(desktop: Service, url: str) -> bool:
    """Return whether a command gets any answer; a refused or unanswered connection is none."""
    asked = f"curl --noproxy '*' -s -o /dev/null -m 8 -w '%{{http_code}}' {shlex.quote(url)}"
    return output(desktop, asked) not in ("", "000")


def reached(desktop: Service, urls: dict[str, str]) -> set[str]:
    """Return which of the addresses commands reach."""
    with ThreadPoolExecutor(len(urls)) as pool:
        return {
            name
            for name, one in zip(
                urls, pool.map(lambda u: reaches(desktop, u), urls.values()), strict=True
            )
            if one
        }


def attack_page(desktop: Service, network: VirtualNetwork, urls: dict[str, str]) -> dict[str, Any]:
    """Open a page in the browser that fetches the addresses and asks a STUN server."""
    query = "&".join(f"target={url}" for url in urls.values())
    before = len(network.arrived("report"))
    command = f"{CHROMIUM} 'http://allowed.test/attack?{query}' > /dev/null 2>&1"
    desktop.post("/api/v0/processes/start", {"command": command, "background": True})
    until(lambda: len(network.arrived("report")) > before, "the report of the page")
    body: dict[str, Any] = network.arrived("report")[-1]["body"]
    return body


def test_with_open_a_command_and_a_page_reach_all_of_them(
    network: VirtualNetwork, folder: Path, targets: dict[str, str]
) -> None:
    not_there = {"slirp's name of the host's loopback"}
    with desktop_with(network, folder) as desktop:
        assert reached(desktop, targets) == targets.keys() - not_there
        before = len(network.arrived("datagram", port=STUN_PORT))
        page = attack_page(desktop, network, targets)
        assert [name for name, url in targets.items() if not page["results"][url]] == [*not_there]
        assert len(network.arrived("datagram", port=STUN_PORT)) > before


def test_with_internet_neither_a_command_nor_a_page_reaches_the_host_or_private_networks(
    network: VirtualNetwork, folder: Path, targets: dict[str, str]
) -> None:
    with desktop_with(network, folder, "--egress", "internet") as desktop:
        assert reached(desktop, targets) == set()
        assert output(desktop, "curl -s -m 8 http://allowed.test/") == "Welcome"
        page = attack_page(desktop, network, targets)
        assert not any(page["results"].values())
        # A STUN server sees the address of the host, as every server on the internet does.
        local = [one for one in page["candidates"] if "typ host" in one]
        assert not any(HOST in candidate for candidate in local)


def test_with_a_list_a_listed_host_answers_and_all_others_are_refused_readably(
    network: VirtualNetwork, folder: Path, targets: dict[str, str]
) -> None:
    with desktop_with(
        network, folder, "--egress", "list", "--egress-allow", "*.test", "--egress-allow", "a.b"
    ) as desktop:
        assert output(desktop, "curl -s -m 8 http://allowed.test/") == "Welcome"
        # By its name it is listed, but the address is the host's.
        assert "500" in output(
            desktop, f"curl -sI -m 8 {targets['a name of the loopback address']}"
        )
    with desktop_with(
        network, folder, "--egress", "list", "--egress-allow", "allowed.test"
    ) as desktop:
        assert reached(desktop, targets) == set()
        assert reached(desktop, {"directly": f"http://{ADDRESS}/"}) == set()
        code = "curl -s -m 8 -o /dev/null -w '%{http_code}' "
        assert output(desktop, f"{code} http://allowed.test/") == "200"
        for host in ("other.test", ADDRESS, METADATA, "10.77.0.1"):
            assert output(desktop, f"{code} http://{host}/") == "403", host
        assert "400" not in output(desktop, "curl -s -m 8 -p http://other.test/")
        assert output(desktop, "curl -s -m 8 -p -w '%{http_connect}' https://other.test/") == "403"
        # By its policy alone, without the variables.
        browser = f"env -i HOME=/tmp PATH=$PATH {CHROMIUM} --dump-dom"
        assert "Welcome" in output(desktop, f"{browser} http://allowed.test/ 2>/dev/null")
        refused = output(desktop, f"{browser} http://other.test/ 2>/dev/null")
        assert "This desktop may not open this address" in refused
        assert "http://other.test/" in refused


def test_with_a_list_quic_webrtc_and_names_do_not_leak(
    network: VirtualNetwork, folder: Path, targets: dict[str, str]
) -> None:
    def leaked() -> list[int]:
        return [len(network.arrived("datagram", port=port)) for port in (STUN_PORT, QUIC_PORT)]

    spies = [
        f"echo x > /dev/udp/{ADDRESS}/{QUIC_PORT}",
        f"echo x > /dev/udp/{ADDRESS}/{STUN_PORT}",
        "getent hosts leak.test",
    ]
    quic = f"timeout 5 {CHROMIUM} --enable-quic --origin-to-force-quic-on=quic.test:443 https://quic.test"
    script = f"bash -c {shlex.quote('; '.join(spies))}; {quic}"
    before = leaked()
    with desktop_with(
        network, folder, "--egress", "list", "--egress-allow", "allowed.test"
    ) as desktop:
        output(desktop, script)
        seen = len(network.arrived("get"))
        page = attack_page(desktop, network, targets)
        # The proxy's refusal is an answer to a page, but none of the targets was asked.
        assert not page["results"][targets["the control plane"]]
        hosts = {one["host"] for one in network.arrived("get")[seen:]}
        assert hosts == {"allowed.test"}
        assert leaked() == before
        assert not network.arrived("name", name="leak.test")
        assert not network.arrived("name", name="quic.test")
    with desktop_with(network, folder) as desktop:
        output(desktop, script)
        assert all(now > then for now, then in zip(leaked(), before, strict=True))
        assert network.arrived("name", name="leak.test")


def test_with_none_nothing_is_reached_but_a_grant(
    network: VirtualNetwork, folder: Path, targets: dict[str, str]
) -> None:
    url = targets["the host's loopback"]
    with desktop_with(network, folder, "--egress", "none") as desktop:
        assert reached(desktop, {**targets, "outside": f"http://{ADDRESS}/"}) == set()
    granted = ("--egress-grant", f"127.0.0.1:{LOOPBACK_PORT}")
    with desktop_with(network, folder, "--egress", "none", *granted) as desktop:
        assert reached(desktop, targets) == {"the host's loopback"}, url
        assert desktop.get("/api/v0/desktop")["egress"]["grants"] == [granted[1]]


def mcp_states(desktop: Service, urls: dict[str, str], transport: str) -> dict[str, str]:
    """Return what keeps servers of `.mcp.json` at these addresses from working."""
    numbered = {f"server{number}": name for number, name in enumerate(urls)}
    entries = {one: {"type": transport, "url": urls[name]} for one, name in numbered.items()}
    path = f"{output(desktop, 'pwd').strip()}/.mcp.json"
    content = json.dumps({"mcpServers": entries}).encode()
    written = desktop.http.post("/api/v0/write-file", params={"path": path}, content=content)
    assert written.is_success, written.text
    listed = desktop.http.get("/api/v0/mcp/tools", timeout=60).json()
    return {numbered[one["name"]]: one["error"] for one in listed["servers"]}


@pytest.mark.slow("five desktops, and servers that are not answered")
@pytest.mark.parametrize("transport", ["http", pytest.param("sse", marks=pytest.mark.full)])
def test_a_server_of_mcp_json_is_reached_only_where_commands_reach(
    network: VirtualNetwork, folder: Path, targets: dict[str, str], transport: str
) -> None:
    script = str(Path(__file__).parents[1] / "data" / "mcp" / "remote_server.py")
    port = MCP_PORTS[transport]
    path = "sse" if transport == "sse" else "mcp"
    targets = {**targets, "a server": f"http://127.0.0.1:{port}/{path}"}
    listed = {"a listed host": "http://allowed.test/mcp"}
    command = network.on_host(sys.executable, script, transport, "127.0.0.1", str(port))
    trust = "--trust-mcp-servers"
    with _started(command):
        with desktop_with(network, folder, trust) as desktop:
            until(lambda: reaches(desktop, targets["a server"]), "the server")
            errors = mcp_states(desktop, targets, transport)
            unreached = {name for name, error in errors.items() if "no connection" in error}
            assert unreached == {"slirp's name of the host's loopback"}
            assert errors["a server"] == ""
        for mode in ("internet", "none"):
            with desktop_with(network, folder, trust, "--egress", mode) as desktop:
                errors = mcp_states(desktop, targets, transport)
                assert all("no connection" in error for error in errors.values()), errors
        options = ("--egress", "list", "--egress-allow", "allowed.test")
        with desktop_with(network, folder, trust, *options) as desktop:
            errors = mcp_states(desktop, targets | listed, transport)
            answered = errors.pop("a listed host")
            assert "no connection" not in answered
            assert "403" not in answered
            # Loopback addresses are not asked of the proxy.
            assert all("no connection" in one or "403" in one for one in errors.values()), errors
        grant = ("--egress-grant", f"127.0.0.1:{port}")
        with desktop_with(network, folder, trust, "--egress", "none", *grant) as desktop:
            errors = mcp_states(desktop, targets, transport)
            assert [name for name, error in errors.items() if not error] == ["a server"]


def test_every_process_of_the_agent_is_in_the_namespace_and_cannot_change_the_rules(
    network: VirtualNetwork, folder: Path
) -> None:
    with desktop_with(network, folder, "--egress", "internet") as desktop:
        uid = int(output(desktop, "id -u"))
        own = output(desktop, "readlink /proc/self/ns/net").strip()
        assert own != str(Path(f"/proc/{network.pid}/ns/net").readlink())
        desktop.post("/api/v0/processes/start", {"command": "sleep 600"})
        # Seen from the machine: the agent's helper and the command among them.
        namespaces = {pid: str(Path(f"/proc/{pid}/ns/net").readlink()) for pid in user_pids(uid)}
        assert set(namespaces.values()) == {own}
        assert len(namespaces) >= 2
        for command in ("nft flush ruleset", "ip link set lo down", "nsenter -t 1 -n true"):
            assert output(desktop, f"{command} > /dev/null 2>&1; echo $?").strip() != "0", command


def shows(desktop: Service, *words: str) -> bool:
    """Return whether the desktop's applications show all these texts."""
    shown = "\n".join(texts(desktop.get(TREE)["applications"]))
    return all(word in shown for word in words)


def texts(nodes: list[Json]) -> Iterator[str]:
    for node in nodes:
        yield str(node.get("name", ""))
        yield str(node.get("value", ""))
        yield from texts(node.get("children", []))


@pytest.mark.slow("a browser opens five pages")
def test_a_refused_page_over_https_names_its_host_and_the_rule(
    network: VirtualNetwork, folder: Path
) -> None:
    allow = ("--egress-allow", "allowed.test", "--egress-allow", "*.docs.test")
    with desktop_with(network, folder, "--egress", "list", *allow) as desktop:
        desktop.get(TREE)
        for host in ("other.test", "docs.test", "third.test"):
            desktop.post("/api/v0/desktop/open", {"url": f"https://{host}:8443/?<b>"})
            words = ("This desktop may not open this address", f"The host {host} is not", RULE)
            until(partial(shows, desktop, *words), "a readable error")
        # The browser goes on.
        desktop.post("/api/v0/desktop/open", {"url": "http://allowed.test/"})
        until(partial(shows, desktop, "Welcome"), "the page of an allowed host")
        # Of an allowed host, the error is the browser's.
        desktop.post("/api/v0/desktop/open", {"url": "https://allowed.test/"})
        until(partial(shows, desktop, "ERR_"), "the browser's error")


def restarting(desktop: Service) -> list[str]:
    """Return the programs that the status reports as restarting."""
    found: list[str] = desktop.get("/api/v0/desktop")["egress"]["restarting"]
    return found


def programs(desktop: Service, name: str) -> list[int]:
    """Return the processes of a program that belong to a desktop, seen from the machine."""
    own = Path(f"/proc/{service_pid(desktop.ready['pid'])}/ns/pid").readlink()
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == name:
                found += [int(entry.name)] if (entry / "ns" / "pid").readlink() == own else []
    return found


def test_the_programs_that_connect_a_desktop_are_started_again_when_they_die(
    network: VirtualNetwork, folder: Path
) -> None:
    with desktop_with(
        network, folder, "--egress", "list", "--egress-allow", "allowed.test"
    ) as desktop:
        curl = "curl -s -m 8 http://allowed.test/"
        assert output(desktop, curl) == "Welcome"
        for name in ("slirp4netns", "tinyproxy", "slirp4netns"):
            killed = programs(desktop, name)
            assert killed, name
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            until(lambda: output(desktop, curl) == "Welcome", "an answer")
            assert not {*killed} & {*programs(desktop, name)}
            until(lambda: not restarting(desktop), "no restart")
            # The rules are those of before.
            assert not reaches(desktop, f"http://{ADDRESS}/"), name


def relays(desktop: Service) -> list[int]:
    """Return the relays of a desktop's grants, seen from the machine."""
    own = Path(f"/proc/{service_pid(desktop.ready['pid'])}/ns/pid").readlink()
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and b"/network/relay.py" in (entry / "cmdline").read_bytes():
                found += [int(entry.name)] if (entry / "ns" / "pid").readlink() == own else []
    return found


@pytest.mark.slow("three restarts, and connections that are not answered")
def test_the_relay_of_the_grants_is_started_again_when_it_dies(
    network: VirtualNetwork, folder: Path, targets: dict[str, str]
) -> None:
    url = targets["the host's loopback"]
    # More than one relay can have.
    ports = (*range(9001, 9014), LOOPBACK_PORT)
    granted = [part for port in ports for part in ("--egress-grant", f"127.0.0.1:{port}")]
    with desktop_with(network, folder, "--egress", "none", *granted) as desktop:
        for _ in range(3):
            assert reaches(desktop, url)
            until(lambda: len(relays(desktop)) == 2, "both relays")
            killed = relays(desktop)
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            until(lambda: reaches(desktop, url), "an answer by the grant")
            until(lambda: len(relays(desktop)) == 2, "both relays")
            assert not {*killed} & {*relays(desktop)}
            until(lambda: not restarting(desktop), "no restart")
        # Nothing else is reached.
        assert reached(desktop, targets) == {"the host's loopback"}


def test_a_desktop_with_a_network_of_its_own_answers_on_the_hosts_loopback_address(
    tmp_path: Path,
) -> None:
    with service(tmp_path / "errors.log", "desktop", "--egress", "none") as desktop:
        host, port = desktop.url.removeprefix("http://").split(":")
        assert host == "127.0.0.1"
        with socket.create_connection((host, int(port))):
            assert desktop.get("/api/v0/desktop")["egress"]["mode"] == "none"


def test_refused_addresses_are_events_of_the_chat(network: VirtualNetwork, folder: Path) -> None:
    data, sock = folder / "events", Path(tempfile.mkdtemp(dir=folder), "plane.sock")
    with _on_host(
        network, folder, "up", "--data-dir", str(data), "--listen", f"unix:{sock}"
    ) as plane:
        child = plane.tool(
            "spawn_computer_use_agent", prompt="x", model="scripted:look", egress="none"
        )["chat_id"]
        chat = until(lambda: _ready(plane.get(f"/api/v0/chats/{child}")), "a desktop")
        assert chat["desktop_id"], chat
        with plane.http.stream("GET", f"/api/v0/chats/{child}/events") as events:
            curl = {
                "command": f"curl -s -m 5 http://{PRIVATE}:81/; curl -s -m 5 http://{METADATA}/"
            }
            path = "/api/v0/tools/execute"
            plane.http.post(path, json=curl, headers={"Deskhand-Chat-Id": child}, timeout=60)
            found = []
            kind = ""
            for line in events.iter_lines():
                kind = line.removeprefix("event: ") if line.startswith("event: ") else kind
                if kind == "egress" and line.startswith("data: "):
                    found.append(line)
                if len(found) == 2:
                    break
        assert PRIVATE in found[0]
        assert '"port":81' in found[0].replace(" ", "")
        assert METADATA in found[1]


def _ready(chat: dict[str, Any]) -> dict[str, Any] | None:
    return chat if chat["desktop_id"] or chat["last_error"] else None


@dataclass
class DesktopOfPlane(Service):
    """A desktop that is reached through its control plane."""

    desktop_id: str

    def get(self, path: str) -> Json:
        return super().get(self._outside(path))

    def post(self, path: str, body: Json, status: int | None = None) -> Json:
        return super().post(self._outside(path), body, status)

    def _outside(self, path: str) -> str:
        return path.replace("/api/v0", f"{DESKTOPS}/{self.desktop_id}", 1)


def _of_plane(plane: Service, desktop_id: str) -> DesktopOfPlane:
    return DesktopOfPlane(plane.process, plane.ready, plane.http, plane.errors, desktop_id)


@pytest.mark.slow("three desktops, and connections that are not answered")
def test_what_a_person_starts_reaches_no_address_of_the_host_but_its_grants(
    network: VirtualNetwork, folder: Path, targets: dict[str, str]
) -> None:
    data, sock = folder / "started", Path(tempfile.mkdtemp(dir=folder), "plane.sock")
    options = ("--data-dir", str(data), "--listen", f"unix:{sock}")
    with _on_host(network, folder, "up", *options, egress="") as plane:
        started = plane.post(DESKTOPS, {}, 201)
        assert reached(_of_plane(plane, started["id"]), targets) == set()
        assert (started["egress"]["mode"], started["egress"]["because"]) == ("internet", "")
        granted = [f"127.0.0.1:{LOOPBACK_PORT}"]
        started = plane.post(DESKTOPS, {"grants": granted}, 201)
        assert started["egress"]["grants"] == granted
        assert reached(_of_plane(plane, started["id"]), targets) == {"the host's loopback"}
        # A chat without a parent, and a scripted model.
        chat = plane.tool("spawn_computer_use_agent", prompt="x", model="scripted:look")["chat_id"]
        found = until(lambda: _ready(plane.get(f"/api/v0/chats/{chat}")), "a desktop")
        assert reached(_of_plane(plane, found["desktop_id"]), targets) == set()
        # The credential of an agent starts none, so that it grants itself nothing.
        made = plane.post("/api/v0/tokens", {"name": "agent", "scopes": [f"chat:{chat}"]}, 201)
        agent = {"Authorization": f"Bearer {made['token']}"}
        asked = plane.http.post(DESKTOPS, json={"grants": granted}, headers=agent)
        assert asked.status_code == 403
        assert len(plane.get(DESKTOPS)["desktops"]) == 3
