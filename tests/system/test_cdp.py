"""The browser of a real desktop, used by Playwright over CDP."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserType, Error, Page, sync_playwright
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.system.reporting_page import reporting_page
from tests.system.services import PATIENCE, Service, tidy, until

pytestmark = [pytest.mark.x11, pytest.mark.root]

CDP = "/api/v0/desktop/as/cdp"
LEASE = "/api/v0/desktop/lease"
RECORDING = "5e0f3a52-0c1b-4f0e-9a34-0d8a4b9f6c11"
PAGE = b"""<!doctype html><title>Form</title>
<body style="margin: 0"><input id=name><button onclick="send()">Send</button>
<a download="note.txt" href="data:text/plain,hello">Note</a>
<script>
addEventListener("mousedown", e => fetch("/click", { method: "POST",
  body: JSON.stringify([e.isTrusted, e.screenX, e.screenY]) }));
addEventListener("keyup", e => fetch("/keyup", { method: "POST", body: e.key }));
const send = () => fetch("/seen", { method: "POST", body: document.getElementById("name").value });
</script>"""


@pytest.fixture(scope="module")
def speaking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A desktop that speaks CDP."""
    with tidy(tmp_path_factory.mktemp("cdp") / "errors.log", "--speak", "cdp") as desktop:
        yield desktop


@pytest.fixture(scope="module")
def chromium() -> Iterator[BrowserType]:
    """Playwright's client."""
    with sync_playwright() as playwright:
        yield playwright.chromium


def browser_of(desktop: Service, chromium: BrowserType) -> Browser:
    headers = {"Authorization": f"Bearer {desktop.token}"}
    return chromium.connect_over_cdp(desktop.url + CDP, headers=headers, timeout=2000 * PATIENCE)


def is_cut_off(page: Page) -> bool:
    try:
        page.title()
    except Error:
        return True
    return False


def steps(desktop: Service) -> list[str]:
    found = desktop.get(f"/api/v0/desktop/recordings/{RECORDING}")["steps"]
    return [f"{step['tool']} {step['text']}".strip() for step in found]


@pytest.mark.slow("starts the browser of a desktop")
def test_two_clients_work_in_the_browser_and_the_recording_shows_it(
    speaking: Service, chromium: BrowserType
) -> None:
    speaking.post("/api/v0/desktop/recording/start", {"recording_id": RECORDING})
    with (
        reporting_page(PAGE) as (url, reports),
        browser_of(speaking, chromium) as browser,
        browser_of(speaking, chromium) as other,
    ):
        page = browser.contexts[0].new_page()
        page.goto(url)
        page.click("#name")
        page.keyboard.type("ab")
        page.keyboard.insert_text("Grüße")
        page.click("button")
        seen = [reports.get(timeout=PATIENCE) for _ in range(5)]
        assert ("/seen", "abGrüße") in seen
        assert ("/keyup", "b") in seen
        with page.expect_download():
            page.click("a")
        read = {"command": "until test -s ~/Downloads/note.txt; do sleep 0.1; done"}
        started = speaking.post("/api/v0/processes/start", read)["id"]
        output = f"/api/v0/processes/{started}/output"
        until(lambda: speaking.get(output).get("exit_code") == 0, "the download")
        # The second client sees the page, and both go on without each other.
        assert [one.url.rstrip("/") for one in other.contexts[0].pages if one.url.startswith(url)]
        other.close()
        assert page.title() == "Form"
        # Our own input reaches the position that the page reports.
        while not reports.empty():
            reports.get()
        page.bring_to_front()
        speaking.act(action="left_click", coordinate=[640, 500], coordinate_space="native")
        _, clicked = reports.get(timeout=PATIENCE)
        assert json.loads(clicked) == [True, 640, 500]
        page.close()
    speaking.post("/api/v0/desktop/recording/stop", {"recording_id": RECORDING})
    recorded = steps(speaking)
    assert "cdp.launch" in recorded
    assert f"cdp.Page.navigate {url}" in recorded
    assert "cdp.Input.insertText Grüße" in recorded
    assert recorded.count("cdp.Input.dispatchMouseEvent") == 3


def test_clients_are_subject_to_the_lease_and_release_what_they_hold(
    speaking: Service, chromium: BrowserType
) -> None:
    with reporting_page(PAGE) as (url, reports), browser_of(speaking, chromium) as browser:
        page = browser.contexts[0].new_page()
        page.goto(url)
        page.keyboard.down("x")
        speaking.post(LEASE, {"action": "take", "name": "Ann", "private": False})
        assert reports.get(timeout=PATIENCE) == ("/keyup", "x")
        with pytest.raises(Error, match="human_in_control: Ann is in control"):
            page.mouse.click(5, 5)
        speaking.post(LEASE, {"action": "release", "name": "Ann"})
        page.mouse.click(5, 5)
        assert reports.get(timeout=PATIENCE)[0] == "/click"
        speaking.post(LEASE, {"action": "take", "name": "Ann"})
        until(lambda: is_cut_off(page), "the end of the connection")
        assert speaking.http.get(f"{CDP}/json/version").status_code == 409
        speaking.post(LEASE, {"action": "release", "name": "Ann"})


def test_pages_are_listed_with_addresses_of_the_caller(speaking: Service) -> None:
    base = speaking.url.replace("http", "ws") + CDP
    found = speaking.http.get(f"{CDP}/json/version").json()
    assert found["webSocketDebuggerUrl"].startswith(f"{base}/devtools/browser/")
    assert found["Protocol-Version"] == "1.3"
    forwarded = speaking.http.get(f"{CDP}/json/list", params={"base": "127.0.0.1:9222"}).json()
    assert forwarded
    for page in forwarded:
        address = f"ws://127.0.0.1:9222/devtools/page/{page['id']}"
        assert page["webSocketDebuggerUrl"] == address
    one = forwarded[0]["id"]
    headers = {"Authorization": f"Bearer {speaking.token}"}
    with connect(f"{base}/devtools/page/{one}", additional_headers=headers) as socket:
        socket.send('{"id": 1, "method": "Browser.close"}')
        assert "not closed by a client" in json.loads(socket.recv(PATIENCE))["error"]["message"]
        socket.send("nonsense")
        assert json.loads(socket.recv(PATIENCE))["error"]["code"] == -32700
    with pytest.raises(InvalidStatus) as caught:
        connect(f"{base}/devtools/page/none", additional_headers=headers)
    assert caught.value.response.status_code == 404


def test_without_the_dialect_its_routes_are_not_found(desktop: Service) -> None:
    assert desktop.http.get(f"{CDP}/json/version").status_code == 404
