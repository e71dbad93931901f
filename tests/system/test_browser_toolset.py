"""The browser toolset on a real desktop: each member once, in its visible browser."""

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from queue import Queue
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.system.reporting_page import PageHandler, Reports, serving
from tests.system.services import PATIENCE, Service, tidy, until

pytestmark = [
    pytest.mark.x11,
    pytest.mark.root,
    pytest.mark.soak,
    pytest.mark.slow("starts the browser of a desktop"),
]

Json = dict[str, Any]
BROWSER = "/api/v0/desktop/browser"
RECORDING = "7b0f3a52-0c1b-4f0e-9a34-0d8a4b9f6c11"
PAGE = """<!doctype html><title>Form</title><body style="margin: 0">
<h1>Orders</h1><p>Please <a href="/other">read this</a> first.</p>
<label>Customer <input id=name></label>
<label><input type=checkbox id=express> Express</label>
<select id=colour aria-label=Colour><option>Red<option>Blue</select>
<input type=password id=secret aria-label=Password>
<input type=file id=file aria-label=Attachment>
<button onclick="hit(event)" ondblclick="hit(event)" oncontextmenu="hit(event)"
 onauxclick="hit(event)" onmouseenter="hit(event)">Send</button>
<a download="note.txt" href="data:text/plain,hello">Note</a>
<div id=host></div>
<iframe src="http://localhost:PORT/inner" width=300 height=60></iframe>
<div style="height: 2000px"></div><button onclick="hit(event)">Far below</button>
<script>
document.getElementById("host").attachShadow({ mode: "closed" }).innerHTML =
  "<button>Shadow</button>";
// One report after the other: requests of several connections may arrive in any order.
let reported = Promise.resolve();
const hit = ({ type, detail, isTrusted }) => reported = reported.then(() =>
  fetch("/hit", { method: "POST", body: [type, detail, isTrusted].join(" ") }));
addEventListener("mousedown", event => document.title = `down ${event.clientX},${event.clientY}`);
addEventListener("mouseup", event => document.title += ` up ${event.clientX},${event.clientY}`);
addEventListener("scroll", () => window.scrolled = true);
console.log("hello", 5);
</script>"""
INNER = """<!doctype html><button onclick="fetch('http://127.0.0.1:PORT/hit',
  { method: 'POST', body: 'inner ' + event.isTrusted, mode: 'no-cors' })">Inner</button>"""


@dataclass
class Pages:
    """A desktop whose browser shows the page of these tests."""

    desktop: Service
    url: str
    reports: Reports

    def ask(self, action: str, status: int = 200, **fields: Any) -> Json:
        body = {"action": action, **fields}
        # No connection is kept: on a busy machine the server may just have closed an idle one.
        fresh = {"Connection": "close"}
        answer = self.desktop.http.post(BROWSER, json=body, headers=fresh, timeout=4 * PATIENCE)
        assert answer.status_code == status, answer.text
        found: Json = answer.json()
        return found

    def text(self, action: str, **fields: Any) -> str:
        return str(self.ask(action, **fields)["text"])

    def ref(self, query: str) -> Json:
        """Return the best match of a search, as a target."""
        found = re.search(r"\[(ref_\d+)\]", self.text("find", query=query))
        assert found is not None, query
        return {"type": "ref", "ref": found[1]}

    def script(self, expression: str) -> str:
        return self.text("javascript_exec", text=expression)

    def hit(self) -> str:
        """Return the next event that the page has reported."""
        return self.reports.get(timeout=PATIENCE)[1]


def point(x: int, y: int) -> Json:
    return {"type": "coordinate", "x": x, "y": y}


@pytest.fixture(scope="module")
def browsed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    reports: Reports = Queue()

    class Handler(PageHandler):
        def do_GET(self) -> None:
            port = str(urlsplit(f"//{self.headers['Host']}").port)
            pages = {"/": PAGE, "/inner": INNER, "/other": "<title>Other</title>other text"}
            if self.path == "/to-other":
                self.send_response(302)
                self.send_header("Location", "/other")
                self.end_headers()
                return
            if self.path == "/missing":
                self.send_error(404)
                return
            self.answer(pages.get(self.path, "").replace("PORT", port).encode())

        def do_POST(self) -> None:
            reports.put((self.path, self.body()))
            self.answer(b"")

    with (
        serving(Handler) as port,
        tidy(tmp_path_factory.mktemp("browser") / "errors.log") as desktop,
    ):
        yield Pages(desktop, f"http://127.0.0.1:{port}/", reports)


@pytest.fixture
def pages(browsed: Pages) -> Pages:
    """The page, loaded anew and with nothing reported."""
    assert '"Form"' in browsed.text("navigate", url=browsed.url)
    # The frame is in another process.
    until(lambda: "Inner" in browsed.text("read_page"), "the frame")
    while not browsed.reports.empty():
        browsed.reports.get()
    return browsed


def test_the_page_is_read_with_shadow_trees_and_frames_of_other_processes(pages: Pages) -> None:
    lines = pages.text("read_page").splitlines()
    assert lines[0] == "page"
    shown = [re.sub(r" \[ref_\d+\]", "", line).strip() for line in lines]
    assert {
        *('heading "Orders"', 'textbox "Customer"', 'textbox "Password" (password)'),
        *('button "Shadow"', 'button "Inner"', 'combobox "Colour" value="Red"'),
    } <= set(shown)
    assert 'button "Far below"' not in shown
    assert "Far below" in pages.text("read_page", filter="all")
    interactive = pages.text("read_page", filter="interactive")
    assert "Orders" not in interactive
    assert "Far below" in interactive
    assert "deeper" in pages.text("read_page", depth=1)
    frame = re.search(r"iframe.*\[(ref_\d+)\]", "\n".join(lines))
    assert frame is not None
    part = pages.text("read_page", ref=frame[1])
    assert part.splitlines()[0].startswith("iframe")
    assert "Customer" not in part


def test_the_text_of_the_page_is_read(pages: Pages) -> None:
    text = pages.text("get_page_text")
    assert "Orders\nPlease read this first." in text
    assert "Shadow" in text
    assert "Inner" in text


def test_elements_are_found_by_role_name_and_misspelt_words(pages: Pages) -> None:
    assert pages.text("find", query="custmer field").startswith('textbox "Customer"')
    assert pages.text("find", query="colour dropdown").startswith('combobox "Colour"')
    assert pages.text("find", query="no such thing anywhere").startswith("No element fits")


def test_clicks_are_real_input_at_the_place_of_the_element(pages: Pages) -> None:
    send = pages.ref("send button")
    pages.ask("hover", target=send)
    assert pages.hit().startswith("mouseenter")
    pages.ask("left_click", target=send, modifiers="shift")
    assert pages.hit() == "click 1 true"
    pages.ask("right_click", target=send)
    assert {pages.hit(), pages.hit()} == {"contextmenu 0 true", "auxclick 1 true"}
    pages.ask("key", text="Escape")
    pages.ask("middle_click", target=send)
    assert pages.hit() == "auxclick 1 true"
    pages.ask("double_click", target=send)
    assert [pages.hit() for _ in range(3)] == ["click 1 true", "click 2 true", "dblclick 2 true"]
    pages.ask("left_click", target=pages.ref("inner button"))
    assert pages.hit() == "inner true"
    pages.ask("left_click", target=pages.ref("far below"))
    assert pages.hit() == "click 1 true"
    assert pages.script("window.scrolled") == "true"


def test_points_are_those_of_the_picture_of_the_page(pages: Pages) -> None:
    shown = pages.ask("screenshot")
    size = (shown["screenshot_width"], shown["screenshot_height"])
    assert f"{size[0]}x{size[1]}" in shown["text"]
    # The screen is larger than the pictures that models see.
    width, height = json.loads(pages.script("[innerWidth, innerHeight]"))
    scale = width / size[0]
    assert abs(height / size[1] - scale) < 0.01

    def seen() -> list[int]:
        return [int(number) for number in re.findall(r"\d+", pages.script("document.title"))]

    def near(*wanted: int) -> bool:
        found = seen()
        pairs = zip(found, wanted, strict=True)
        return len(found) == len(wanted) and all(abs(a - scale * b) <= 2 for a, b in pairs)

    assert base64.b64decode(shown["screenshot_data"]).startswith(b"\x89PNG")
    pages.ask("left_mouse_down", target=point(600, 300))
    pages.ask("mouse_move", target=point(620, 310))
    pages.ask("left_mouse_up", target=point(640, 320))
    assert near(600, 300, 640, 320)
    ends: Json = {"from": point(500, 300), "target": point(520, 330)}
    pages.ask("left_click_drag", **ends)
    assert near(500, 300, 520, 330)
    pages.ask("scroll", target=point(600, 300), scroll_direction="down", scroll_amount=2)
    until(lambda: float(pages.script("scrollY")) > 0, "the scrolling")
    assert pages.ask("zoom", region=[0, 0, 200, 100])["screenshot_width"] > 200
    pages.ask("zoom", 400, region=[0, 5000, 5, 5001])
    pages.ask("left_click", 400, target=point(5000, 5))


def test_forms_are_filled_in(pages: Pages) -> None:
    name = pages.ref("customer field")
    assert pages.text("form_input", target=name, value="Ada") == f'Set {name["ref"]} to "Ada".'
    pages.ask("triple_click", target=name)
    pages.ask("type", text="Grüße")
    pages.ask("hold_key", text="x", duration=0.05)
    pages.ask("key", text="BackSpace")
    until(lambda: pages.script("document.getElementById('name').value") == "Grüße", "the text")
    pages.ask("form_input", target=pages.ref("express"), value=True)
    pages.ask("form_input", target=pages.ref("colour"), value="Blue")
    secret = pages.ask("form_input", target=pages.ref("password"), value="hunter22")
    assert secret["told_value"] == "8 characters"
    assert "hunter22" not in json.dumps(secret)
    assert "hunter22" not in pages.text("read_page")
    values = pages.script("[express.checked, colour.value, secret.value.length]")
    assert json.loads(values) == [True, "Blue", 8]
    wrong = pages.ask("form_input", 422, target=pages.ref("colour"), value="Green")
    assert '"Red", "Blue"' in wrong["message"]
    pages.ask("form_input", 422, target=pages.ref("orders heading"), value="x")
    pages.ask("scroll_to", target=pages.ref("far below"))
    assert float(pages.script("scrollY")) > 1000


def test_files_are_given_with_the_rights_of_the_agent(pages: Pages) -> None:
    written = pages.desktop.http.post(
        "/api/v0/write-file", params={"path": "/tmp/given.txt"}, content=b"given"
    )
    written.raise_for_status()
    field = pages.ref("attachment")
    text = pages.text("file_upload", target=field, paths=["/tmp/given.txt"])
    assert text.endswith("has 1 file: given.txt.")
    assert pages.script("file.files[0].text()") == "given"
    pages.ask("file_upload", 403, target=field, paths=["/etc/shadow"])
    pages.ask("file_upload", 422, target=pages.ref("customer"), paths=["/tmp/given.txt"])


def test_tabs_are_opened_switched_and_closed(pages: Pages) -> None:
    first = pages.ask("list_tabs")["browser_state"]["tabs"]
    (old,) = (tab["tab_id"] for tab in first)
    state = pages.ask("new_tab")["browser_state"]
    (change,) = state["state_changes"]
    new = change["tab_id"]
    assert [tab["tab_id"] for tab in state["tabs"] if tab.get("active")] == [new]
    pages.ask("navigate", url=f"{pages.url}other")
    assert pages.text("get_page_text", tab_id=new) == "other text"
    assert "Customer" in pages.text("read_page", tab_id=old, filter="all")
    ref = pages.text("find", query="customer", tab_id=old)
    found = re.search(r"ref_\d+", ref)
    assert found is not None
    other = pages.ask("left_click", 409, target={"ref": found[0]}, tab_id=new)
    assert f'tab_id "{old}"' in other["message"]
    state = pages.ask("switch_tab", tab_id=old)["browser_state"]
    assert [tab["tab_id"] for tab in state["tabs"] if tab.get("active")] == [old]
    pages.ask("close_tab", tab_id=new)
    gone = pages.ask("read_page", 404, tab_id=new)
    assert gone["code"] == "unknown_tab"
    state = pages.ask("close_tab", tab_id=old)["browser_state"]
    assert [tab["url"] for tab in state["tabs"]] == ["about:blank"]


def test_refs_are_stale_after_a_navigation_or_when_their_element_is_gone(pages: Pages) -> None:
    send = pages.ref("send button")
    pages.script("document.querySelector('button').remove()")
    gone = pages.ask("left_click", 409, target=send)
    assert "removed its element" in gone["message"]
    name = pages.ref("customer")
    assert '"Form"' in pages.text("navigate", url="reload")
    stale = pages.ask("left_click", 409, target=name)
    assert stale["code"] == "stale_ref"
    assert "with read_page or find" in stale["message"]
    pages.text("navigate", url=f"{pages.url}other")
    assert '"Form"' in pages.text("navigate", url="back")
    assert '"Other"' in pages.text("navigate", url="forward")
    pages.ask("navigate", 409, url="forward")
    pages.ask("navigate", 403, url="chrome://settings")
    pages.ask("navigate", 502, url="http://127.0.0.1:9/")


def test_console_and_network_are_read_since_the_last_time(pages: Pages) -> None:
    pages.ask("read_console")
    pages.ask("read_network")
    pages.ask("navigate", url="reload")
    assert "[log] hello 5" in pages.text("read_console")
    assert pages.text("read_console") == "(nothing since the last read)"
    assert f"GET {pages.url} 200 text/html" in pages.text("read_network")


def test_scripts_are_bounded(pages: Pages) -> None:
    assert pages.script("[1, {a: 2}]") == '[1,{"a":2}]'
    assert len(pages.script("'x'.repeat(1e6)")) < 21_000
    failed = pages.ask("javascript_exec", 422, text="missing()")
    assert "ReferenceError" in failed["message"]
    stopped = pages.ask("javascript_exec", 422, text="while (true);")
    assert stopped["code"] == "script_failed"
    assert pages.script("1 + 1") == "2"


def test_a_dialog_is_reported_and_answered_by_keys(pages: Pages) -> None:
    pages.script("setTimeout(() => window.answer = confirm('Sure?'), 20), 0")
    until(lambda: pages.desktop.http.post(BROWSER, json={"action": "find", "query": "x"})
          .status_code == 409, "the dialog")  # fmt: skip
    open_ = pages.ask("read_page", 409)
    assert open_["code"] == "dialog_open"
    assert '"Sure?"' in open_["message"]
    pages.ask("screenshot")
    (shown,) = pages.ask("list_tabs")["browser_state"]["tabs"]
    assert shown["dialog"] == {"type": "confirm", "message": "Sure?"}
    (shown,) = pages.ask("key", text="Return")["browser_state"]["tabs"]
    assert "dialog" not in shown
    assert pages.script("window.answer") == "true"


def test_the_dialog_for_printing_is_one(pages: Pages) -> None:
    pages.script("setTimeout(() => { print(); window.printed = 1 }, 20), 0")

    def shown() -> Json | None:
        (tab,) = pages.ask("list_tabs")["browser_state"]["tabs"]
        assert tab["title"] == "Form"
        dialog: Json | None = tab.get("dialog")
        return dialog

    assert until(shown, "the dialog") == {"type": "print", "message": ""}
    for action in ("read_page", "get_page_text"):
        refused = pages.ask(action, 409)
        assert refused["code"] == "dialog_open"
        assert "print" in refused["message"]
    pages.ask("screenshot")
    pages.ask("key", text="Escape")
    until(lambda: not shown(), "the end of the dialog")
    assert pages.script("window.printed") == "1"


def test_a_navigation_has_its_http_status(pages: Pages) -> None:
    found = pages.ask("navigate", url=f"{pages.url}missing")
    assert (found["http_status"], "(HTTP 404)" in found["text"]) == (404, True)
    assert pages.ask("navigate", url=f"{pages.url}to-other")["http_status"] == 200
    assert pages.ask("navigate", url="reload")["http_status"] == 200
    assert "http_status" not in pages.ask("navigate", url=f"{pages.url}other#part")
    assert "http_status" not in pages.ask("navigate", url="about:blank")


def test_requests_of_the_browser_itself_are_not_read(pages: Pages) -> None:
    def opened() -> str | None:
        tabs = pages.ask("list_tabs")["browser_state"]["tabs"]
        return str(tabs[-1]["tab_id"]) if len(tabs) == 2 else None

    # The page of a new tab is one of the browser itself.
    pages.ask("key", text="ctrl+t")
    tab = until(opened, "the tab")
    pages.ask("navigate", url="reload", tab_id=tab)
    assert "chrome" not in pages.text("read_network", tab_id=tab)
    pages.ask("close_tab", tab_id=tab)


def test_a_button_is_held_where_the_pointer_is(pages: Pages) -> None:
    pages.ask("mouse_move", target=point(300, 300))
    pages.ask("left_mouse_down")
    pages.ask("left_mouse_up")
    down, up = re.findall(r"\d+,\d+", pages.script("document.title"))
    assert down == up
    pages.ask("left_mouse_down", target=point(300, 300))
    pages.ask("left_mouse_up", target=point(300, 300))
    assert pages.script("document.title") == f"down {down} up {down}"


def test_downloads_are_part_of_the_state(pages: Pages) -> None:
    def kinds(state: Json) -> set[str]:
        return {change["type"] for change in state.get("state_changes", ())}

    seen = kinds(pages.ask("left_click", target=pages.ref("note"))["browser_state"])

    def completed() -> bool:
        seen.update(kinds(pages.ask("wait", duration=0.05)["browser_state"]))
        return "download_completed" in seen

    until(completed, "the download")


def test_actions_are_steps_of_the_recording(pages: Pages) -> None:
    pages.desktop.post("/api/v0/desktop/recording/start", {"recording_id": RECORDING})
    pages.ask("form_input", target=pages.ref("customer"), value="hidden value")
    pages.ask("left_click", target=pages.ref("send button"))
    pages.desktop.post("/api/v0/desktop/recording/stop", {"recording_id": RECORDING})
    steps = pages.desktop.get(f"/api/v0/desktop/recordings/{RECORDING}")["steps"]
    tools = [step["tool"] for step in steps]
    assert tools == ["browser.find", "browser.form_input", "browser.find", "browser.left_click"]
    assert "hidden value" not in json.dumps(steps)


def test_secrets_are_masked_in_what_is_returned(pages: Pages) -> None:
    pages.desktop.post("/api/v0/desktop/secrets", {"values": ["S3cretValue"]})
    assert pages.script("'a S3cretValue b'") == "a •••• b"
    pages.desktop.http.delete("/api/v0/desktop/secrets")


def test_a_browser_that_was_closed_is_started_again(pages: Pages) -> None:
    for window in pages.desktop.get("/api/v0/desktop/windows")["windows"]:
        pages.desktop.post(f"/api/v0/desktop/windows/{window['id']}/close", {})
    until(lambda: not pages.desktop.get("/api/v0/desktop/windows")["windows"], "the end")
    assert pages.ask("list_tabs")["browser_state"]["tabs"]
