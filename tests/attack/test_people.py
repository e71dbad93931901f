"""Members and watchers try every route, for runs that are theirs, shared, and neither.

The routes are those that the service lists itself; what is to be refused is computed for the table
of docs/people.md. Reading routes that the table permits are the control: they must not be refused.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from deskhand.vncbridge.auth.people import PersonRole
from deskhand.vncbridge.auth.request_headers import PAGE_KEY
from scripts.make_people_table import permits, routes
from tests.system.services import PATIENCE, Service, service, sign_in_with

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

Json = dict[str, Any]
FORBIDDEN = 403
PROXIED = "/api/v0/desktops/{desktop_id}/{rest}"


@dataclass(frozen=True)
class Run:
    """A chat with a desktop and a stored file."""

    chat: str
    desktop: str
    file: str

    def path(self, route: str) -> str:
        """Return the path of a route for this run."""
        known = {"{chat_id}": self.chat, "{desktop_id}": self.desktop, "{file_id}": self.file}
        path = route.split()[1]
        for name, value in known.items():
            path = path.replace(name, value)
        return path.replace("{person_id}", "*").replace("{", "").replace("}", "")


@dataclass(frozen=True)
class Browser:
    """A browser in which a person has signed in."""

    role: PersonRole
    http: httpx2.Client

    def status(self, method: str, path: str, **request: Any) -> int:
        """Return the status of a request, without waiting for the end of a stream."""
        with self.http.stream(method, path, **request) as answer:
            return answer.status_code

    def opened(self, path: str) -> int:
        """Return the status of the handshake of a WebSocket."""
        url = str(self.http.base_url).rstrip("/").replace("http", "ws", 1) + path
        cookies = "; ".join(f"{one.name}={one.value}" for one in self.http.cookies.jar)
        headers = {"Cookie": cookies, PAGE_KEY: self.http.headers[PAGE_KEY]}
        origin: Any = str(self.http.base_url).rstrip("/")
        try:
            with connect(url, origin=origin, additional_headers=headers):
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code

    def run(self, title: str) -> Run:
        """Start a run: a chat whose command has written a file."""
        answer = self.http.post("/api/v0/chats", json={"title": title})
        assert answer.status_code == 201, answer.text
        return run_of(self.http, answer.json()["id"])


@dataclass(frozen=True)
class Scene:
    """A member and a watcher, and the runs of the member, a shared one and a foreign one."""

    plane: Service
    ada: Browser
    wim: Browser
    own: Run
    shared: Run
    foreign: Run


def run_of(http: httpx2.Client, chat: str) -> Run:
    def tool(name: str, **arguments: Any) -> Json:
        answer = http.post(
            f"/api/v0/tools/{name}", json=arguments, headers={"Deskhand-Chat-Id": chat}
        )
        assert answer.status_code == 200, answer.text
        assert "result" in answer.json(), answer.text
        found: Json = answer.json()["result"]
        return found

    tool("execute", command="echo before > before", timeout="20s")
    file = tool("attach_file", path="before")["file_id"]
    desktop = http.get(f"/api/v0/chats/{chat}").json()["desktop_id"]
    assert desktop
    return Run(chat, desktop, file)


@contextmanager
def signed_in(plane: Service, name: str, role: PersonRole) -> Iterator[Browser]:
    made = plane.post("/api/v0/people", {"name": name, "role": role}, status=201)
    headers = {"Origin": plane.url}
    with httpx2.Client(base_url=plane.url, headers=headers, timeout=3 * PATIENCE) as http:
        code = made["url"].partition("#code=")[2]
        assert sign_in_with(http, code).is_success
        yield Browser(role, http)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("people")
    arguments = ("up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
    with ExitStack() as stack:
        plane = stack.enter_context(service(folder / "errors.log", *arguments))
        ada = stack.enter_context(signed_in(plane, "Ada", "member"))
        bob = stack.enter_context(signed_in(plane, "Bob", "member"))
        wim = stack.enter_context(signed_in(plane, "Wim", "watcher"))
        shared, foreign = bob.run("shared"), bob.run("foreign")
        answer = bob.http.put(f"/api/v0/runs/{shared.chat}/people/*")
        assert answer.json()["people"] == ["*"]
        yield Scene(plane, ada, wim, ada.run("own"), shared, foreign)


def tried(scene: Scene, browser: Browser, run: Run, *, own: bool | None) -> list[str]:
    """Try all routes for one run; return those whose answer is not that of the table."""
    wrong = []
    for route in routes():
        method = route.split()[0]
        permitted = permits(route, browser.role, own=own)
        if method == "WEBSOCKET":
            status = browser.opened(run.path(route))
        elif method == "GET":
            status = browser.status(method, run.path(route))
        elif permitted:
            continue
        else:
            status = browser.status(method, run.path(route), json={})
        if (status == FORBIDDEN) == permitted or status == 401:
            wrong.append(f"{route}: {status}, permitted: {permitted}")
    return wrong


def test_the_table_has_all_routes(scene: Scene) -> None:
    served = {
        f"{one['method']} {one['path']}" for one in scene.plane.get("/openapi.json")["x-routes"]
    }
    known = set(routes())
    missing = {
        one
        for one in served
        if one not in known and not any(path in one for path in (PROXIED, "HEAD ", " /mcp"))
    }
    assert not missing, sorted(missing)


def test_a_member_reaches_of_an_own_run_what_the_table_says(scene: Scene) -> None:
    assert not tried(scene, scene.ada, scene.own, own=True)


def test_a_member_reaches_of_a_shared_run_what_the_table_says(scene: Scene) -> None:
    assert not tried(scene, scene.ada, scene.shared, own=False)


def test_a_member_reaches_nothing_of_a_foreign_run(scene: Scene) -> None:
    assert not tried(scene, scene.ada, scene.foreign, own=None)


def test_a_watcher_reaches_of_a_shared_run_what_the_table_says(scene: Scene) -> None:
    assert not tried(scene, scene.wim, scene.shared, own=False)


def test_a_watcher_reaches_nothing_of_a_foreign_run(scene: Scene) -> None:
    assert not tried(scene, scene.wim, scene.foreign, own=None)


def test_lists_have_what_a_person_may_see(scene: Scene) -> None:
    for browser, visible in (
        (scene.ada, {scene.own, scene.shared}),
        (scene.wim, {scene.shared}),
    ):
        chats = browser.http.get("/api/v0/chats").json()["chats"]
        assert {one["id"] for one in chats} == {run.chat for run in visible}
        desktops = browser.http.get("/api/v0/desktops").json()["desktops"]
        assert {one["id"] for one in desktops} == {run.desktop for run in visible}


def test_a_member_speaks_for_no_chat_of_others(scene: Scene) -> None:
    for run in (scene.shared, scene.foreign):
        headers = {"Deskhand-Chat-Id": run.chat}
        body = {"command": "echo here > ~/here"}
        status = scene.ada.status("POST", "/api/v0/tools/execute", json=body, headers=headers)
        assert status == FORBIDDEN
        path = f"/api/v0/desktops/{scene.own.desktop}/desktop/screenshot"
        assert scene.ada.status("GET", path, headers=headers) == FORBIDDEN


def test_a_member_starts_nothing_with_the_things_of_others(scene: Scene) -> None:
    for run in (scene.shared, scene.foreign):
        body = {"prompt": "Work", "kind": "computer_use", "desktop": run.desktop}
        for tool in ("spawn_agent", "spawn_computer_use_agent"):
            assert scene.ada.status("POST", f"/api/v0/tools/{tool}", json=body) == FORBIDDEN
    for run, status in ((scene.foreign, FORBIDDEN), (scene.own, 201)):
        start = {"title": "mine", "files": [run.file]}
        assert scene.ada.status("POST", "/api/v0/chats", json=start) == status


def test_no_ticket_exceeds_the_rights_of_its_person(scene: Scene) -> None:
    path = f"/api/v0/desktops/{scene.shared.desktop}/desktop/tickets"
    for browser in (scene.ada, scene.wim):
        assert browser.status("POST", path, json={"role": "control"}) == FORBIDDEN
        assert browser.status("POST", path, json={"role": "view"}) == 201


def test_members_stop_shared_runs_and_watchers_do_not(scene: Scene) -> None:
    path = f"/api/v0/chats/{scene.shared.chat}/interrupt"
    assert scene.wim.status("POST", path, json={}) == FORBIDDEN
    assert scene.ada.status("POST", path, json={}) == 200
    stops = scene.plane.get(f"/api/v0/runs/{scene.shared.chat}")["people"]
    assert [(one["kind"], one["by"]) for one in stops] == [("stop", "Ada")]
