"""An agent uses the browser toolset to see or open what it may not."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.attack.test_private_take_over import LEASE, browser_of, output
from tests.live_trees import commands_below
from tests.system.reporting_page import reporting_page
from tests.system.services import PATIENCE, Service, service

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the level is 'shared' here"),
]

Json = dict[str, Any]
BROWSER = "/api/v0/desktop/browser"
FRESH = {"Connection": "close"}
"""No connection is kept: on a busy machine the server may just have closed an idle one."""
PAGE = b"""<!doctype html><title>Bank</title><input type=file aria-label=File>
<button>Log</button>
<script>let count = 0; setInterval(() => console.log("count", ++count), 5)</script>"""
READS = ("list_tabs", "read_page", "get_page_text", "read_console", "read_network", "screenshot")


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path / "errors.log", "desktop") as found:
        yield found


def ask(desktop: Service, action: str, **fields: Any) -> tuple[int, Json]:
    body = {"action": action, **fields}
    answer = desktop.http.post(BROWSER, json=body, headers=FRESH, timeout=4 * PATIENCE)
    return answer.status_code, answer.json()


def counts(desktop: Service) -> list[int]:
    """Return the numbers that the page has written since the last read."""
    text = ask(desktop, "read_console")[1]["text"]
    return [int(line.split()[-1]) for line in text.splitlines() if "count" in line]


def take(desktop: Service, *, private: bool = True) -> None:
    desktop.post(LEASE, {"action": "take", "name": "Ann", "private": private})


def release(desktop: Service) -> None:
    desktop.post(LEASE, {"action": "release", "name": "Ann"})


def test_a_private_take_over_hides_pages_and_what_happens_in_them(desktop: Service) -> None:
    with reporting_page(PAGE) as (url, _):
        assert ask(desktop, "navigate", url=url)[0] == 200
        log = ask(desktop, "find", query="log button")[1]["text"].split("[")[1].split("]")[0]
        before = counts(desktop)
        take(desktop)
        for action in READS:
            status, body = ask(desktop, action)
            assert (status, body["code"]) == (409, "human_in_control"), action
        calls: dict[str, Json] = {
            "find": {"query": "x"},
            "zoom": {"region": [0, 0, 5, 5]},
            "left_click": {"target": {"ref": log}},
            "javascript_exec": {"text": "document.title"},
            "navigate": {"url": "about:blank"},
            "form_input": {"target": {"ref": log}, "value": "x"},
        }
        for action, fields in calls.items():
            status, body = ask(desktop, action, **fields)
            assert (status, body["code"]) == (409, "human_in_control"), action
            assert "Bank" not in json.dumps(body)
        release(desktop)
        after: list[int] = []
        while len(after) < 3:
            after += counts(desktop)
        # What the page wrote before the take-over may be read later, but nothing from then on.
        gaps = [b - a for a, b in pairwise([before[-1], *after])]
        assert max(gaps) > 1
        assert sorted(gaps)[-2] == 1
        assert ask(desktop, "read_page")[0] == 200


def test_while_a_person_is_in_control_in_public_pages_are_read_and_not_changed(
    desktop: Service,
) -> None:
    with reporting_page(PAGE) as (url, _):
        assert ask(desktop, "navigate", url=url)[0] == 200
        take(desktop, private=False)
        assert "Log" in ask(desktop, "read_page")[1]["text"]
        for action, fields in (
            ("navigate", {"url": "about:blank"}),
            ("javascript_exec", {"text": "1"}),
            ("new_tab", {}),
            ("key", {"text": "a"}),
        ):
            status, body = ask(desktop, action, **fields)
            assert (status, body["code"]) == (409, "human_in_control"), action
        release(desktop)
        assert ask(desktop, "new_tab")[0] == 200


def test_files_of_the_browser_and_of_the_service_are_not_opened(desktop: Service) -> None:
    with reporting_page(PAGE) as (url, reports):
        assert ask(desktop, "navigate", url=url)[0] == 200
        browser = browser_of(desktop)
        assert isinstance(browser, psutil.Process)
        home = Path(output(desktop, "echo $HOME").strip())
        profile = home.parent / "browser"
        cookies = str(profile / "Default" / "Preferences")
        output(desktop, f"ln -s {cookies} /tmp/link; mkfifo /tmp/fifo; echo own > /tmp/own.txt")
        field = ask(desktop, "find", query="file")[1]["text"].split("[")[1].split("]")[0]
        target = {"type": "ref", "ref": field}
        for path in (cookies, "/tmp/link", "/etc/shadow", "/tmp/fifo", str(home.parent / "logs")):
            status, body = ask(desktop, "file_upload", target=target, paths=[path])
            assert status == 403, (path, body)
            status, body = ask(desktop, "navigate", url=f"file://{path}")
            assert (status, body.get("code")) == (403, "refused_address"), (path, body)
        status, body = ask(desktop, "file_upload", target=target, paths=["/tmp/own.txt"])
        assert status == 200, body
        copy = ask(desktop, "javascript_exec", text="document.querySelector('input').files.length")
        assert copy[1]["text"] == "1"
        assert reports.empty()


def test_refused_addresses_are_reported(tmp_path: Path) -> None:
    with service(tmp_path / "errors.log", "desktop", "--egress", "none") as desktop:
        status, body = ask(desktop, "navigate", url="https://example.com/")
        assert (status, body["code"]) == (403, "refused_address")
        assert "egress, mode none" in body["message"]
        for url in ("chrome://settings", "javascript:alert(1)", "devtools://devtools/x"):
            assert ask(desktop, "navigate", url=url)[0] == 403, url


@pytest.mark.slow("a text of 90 MB")
@pytest.mark.parametrize("length", [10_000_000, pytest.param(90_000_000, marks=pytest.mark.full)])
def test_a_page_with_endless_texts_does_not_end_the_browser(desktop: Service, length: int) -> None:
    script = f"<title>Loud</title><script>console.log('x'.repeat({length}))</script>"
    with reporting_page(script.encode()) as (url, _):
        assert ask(desktop, "navigate", url=url)[0] == 200
        assert ask(desktop, "read_console")[0] == 200
        assert ask(desktop, "javascript_exec", text="document.title")[1]["text"] == "Loud"


@pytest.mark.slow("kills the processes of a browser")
def test_a_page_that_crashes_is_reported_and_left(desktop: Service) -> None:
    endless = "fetch('/begun', {method: 'POST'}); new Promise(() => {})"
    with reporting_page(PAGE) as (url, reports), ThreadPoolExecutor() as pool:
        assert ask(desktop, "navigate", url=url)[0] == 200
        waiting = pool.submit(ask, desktop, "javascript_exec", text=endless)
        assert reports.get(timeout=PATIENCE)[0] == "/begun"
        for process, command in commands_below(browser_of(desktop).pid).items():
            if "--type=renderer" in command:
                process.kill()
        # The crash ends the call that waits for the page.
        status, body = waiting.result()
        assert (status, body["code"]) == (409, "page_crashed")
        status, body = ask(desktop, "screenshot")
        assert (status, body["code"]) == (409, "page_crashed")
        assert "reload" in body["message"]
        assert ask(desktop, "navigate", url="reload")[0] == 200
        assert "Log" in ask(desktop, "read_page")[1]["text"]
