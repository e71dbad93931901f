"""Grants: addresses of the host that a desktop which a person starts may reach."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from urllib.parse import urlsplit

import pytest

from tests.system.reporting_page import PageHandler, serving
from tests.system.services import DESKHAND, Service, reserved_port, service, until

pytestmark = [pytest.mark.root, pytest.mark.x11]

DESKTOPS = "/api/v0/desktops"


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A control plane with the egress that it has by default."""
    folder = tmp_path_factory.mktemp("grants")
    arguments = ("up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
    with service(folder / "e.log", *arguments, environment={"DESKHAND_EGRESS": ""}) as found:
        yield found


@contextmanager
def development_server() -> Iterator[tuple[str, Queue[str]]]:
    """Serve on the host; the value is HOST:PORT, and the paths that are requested."""
    requested: Queue[str] = Queue()

    class Handler(PageHandler):
        def do_GET(self) -> None:
            requested.put(self.path)
            self.answer(b"<title>Development</title>served by the host")

    with serving(Handler) as port:
        yield f"127.0.0.1:{port}", requested


def deskhand(plane: Service, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DESKHAND_TOKEN": plane.token, "DESKHAND_URL": plane.url}
    return subprocess.run(
        [DESKHAND, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )


def ids(plane: Service) -> list[str]:
    return [one["id"] for one in plane.get(DESKTOPS)["desktops"]]


def texts(plane: Service, desktop: str) -> str:
    """Return what the applications of a desktop show."""
    return json.dumps(plane.get(f"{DESKTOPS}/{desktop}/desktop/accessibility"))


@pytest.mark.slow("two desktops, and connections that are not answered")
def test_a_command_grants_a_new_desktop_a_server_of_the_host(plane: Service) -> None:
    with development_server() as (address, _), development_server() as (other, _):
        started = deskhand(plane, "desktops", "new", "--grant", address, "--grant", other)
        assert started.returncode == 0, started.stderr
        without = deskhand(plane, "desktops", "new")
        for desktop, reached in ((started.stdout.strip(), True), (without.stdout.strip(), False)):
            for one in (address, other):
                fetched = deskhand(plane, "exec", desktop, "--", f"curl -s -m 8 http://{one}/")
                assert ("served by the host" in fetched.stdout) is reached, fetched.stderr


@pytest.mark.slow("a desktop whose browser opens a page")
def test_open_grants_a_page_of_the_host_to_a_new_desktop_and_opens_it(plane: Service) -> None:
    before = ids(plane)
    with development_server() as (address, requested):
        ended = deskhand(plane, "open", f"http://{address}/shop?a=1", "--print")
        assert ended.returncode == 0, ended.stderr
        (desktop,) = {*ids(plane)} - {*before}
        assert f"/desktops/{desktop}" in ended.stdout
        assert requested.get(timeout=60) == "/shop?a=1"
    found = plane.get(f"{DESKTOPS}/{desktop}")["egress"]
    assert (found["mode"], found["grants"]) == ("internet", [address])


@pytest.mark.slow("ten commands, each a process that imports all")
def test_the_control_plane_is_never_granted(plane: Service) -> None:
    before, port = ids(plane), urlsplit(plane.url).port
    for host in ("127.0.0.1", "localhost", "[::1]", "127.0.0.2", "0.0.0.0"):
        asked = deskhand(plane, "desktops", "new", "--grant", f"{host}:{port}")
        opened = deskhand(plane, "open", f"http://{host}:{port}/runs", "--print")
        for ended in (asked, opened):
            assert ended.returncode == 1, (host, ended.stdout)
        assert "is the control plane, which none may reach" in opened.stderr
    assert ids(plane) == before


def test_a_wrong_grant_starts_nothing(plane: Service) -> None:
    before = ids(plane)
    ended = deskhand(plane, "desktops", "new", "--grant", "example.com:80")
    assert ended.returncode == 1
    assert "'example.com:80' is no grant such as 127.0.0.1:8000" in ended.stderr
    assert ids(plane) == before


@pytest.mark.slow("a browser opens a page that is refused, and one of the desktop")
def test_the_page_of_a_refused_address_names_the_command_that_grants_it(plane: Service) -> None:
    desktop = plane.post(DESKTOPS, {}, 201)["id"]
    tool = f"{DESKTOPS}/{desktop}/desktop/browser"
    texts(plane, desktop)
    with development_server() as (address, requested):
        plane.post(f"{DESKTOPS}/{desktop}/desktop/open", {"url": f"http://{address}/?`id`"})
        command = f"deskhand open http://{address}"
        said = f"Nothing answers at {address} on this desktop"

        def refused() -> str:
            # The tree of a page comes and goes in parts.
            found = texts(plane, desktop)
            return found if said in found and command in found else ""

        shown = until(refused, "the command")
        assert "`id`" not in shown.partition(command)[2].partition('"')[0]
        # By a tool, the agent gets the same reason.
        answer = plane.http.post(tool, json={"action": "navigate", "url": f"http://{address}/"})
        assert (answer.status_code, command in answer.text) == (403, True), answer.text
        assert requested.empty()
        # The same port of the desktop itself is its own: a server there is shown.
        line = f"cd $(mktemp -d); echo own > index.html; python3 -m http.server {address[10:]}"
        started = {"command": line, "background": True}
        plane.post(f"{DESKTOPS}/{desktop}/processes/start", started)

        def opened() -> bool:
            body = {"action": "navigate", "url": f"http://{address}/"}
            return plane.http.post(tool, json=body).status_code == 200

        until(opened, "the desktop's own server", pause=0.5)
        assert requested.empty()


def test_a_grant_that_two_spellings_name_keeps_the_rest_refused(plane: Service) -> None:
    with development_server() as (address, _), development_server() as (other, _):
        port = address.rpartition(":")[2]
        grants = [address, f"localhost:{port}", address, "10.99.0.1:80", "10.99.0.1:81"]
        started = plane.post(DESKTOPS, {"grants": grants}, 201)
        assert (started["egress"]["mode"], started["egress"]["because"]) == ("internet", "")
        for one, reached in ((address, True), (f"localhost:{port}", True), (other, False)):
            line = f"curl -s -m 8 http://{one}/"
            fetched = deskhand(plane, "exec", started["id"], "--", line)
            assert ("served by the host" in fetched.stdout) is reached, one


def test_a_page_that_is_not_opened_leaves_no_desktop(plane: Service) -> None:
    before = ids(plane)
    with reserved_port() as port:
        ended = deskhand(plane, "open", f"nothing://127.0.0.1:{port}/", "--print")
    assert ended.returncode == 1, ended.stdout
    assert ids(plane) == before


def test_a_scripted_agent_has_the_same_egress(plane: Service) -> None:
    chat = plane.tool("spawn_computer_use_agent", prompt="x", model="scripted:look")["chat_id"]
    found = until(lambda: plane.get(f"/api/v0/chats/{chat}")["desktop_id"], "a desktop")
    assert plane.get(f"{DESKTOPS}/{found}")["egress"]["mode"] == "internet"
