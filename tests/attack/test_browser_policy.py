"""A page or an extension sees more of a desktop than its own page."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.attack.attackers import output
from tests.attack.test_browser_toolset import ask
from tests.system.reporting_page import reporting_page
from tests.system.services import PATIENCE, Service, service

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the level is 'shared' here"),
]

Json = dict[str, Any]
RECORDER = b"""<!doctype html><title>Recorder</title><button>Record</button><script>
const report = text => fetch("/seen", { method: "POST", body: text });
document.querySelector("button").onclick = () =>
  navigator.mediaDevices.getDisplayMedia({ video: true }).then(() => report("recorded"),
    error => report(error.name));
</script>"""
READER = {
    "manifest_version": 3,
    "name": "Reader",
    "version": "1",
    "content_scripts": [{"matches": ["<all_urls>"], "js": ["reader.js"]}],
}


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path / "errors.log", "desktop", "--speak", "cdp") as found:
        yield found


def test_a_page_is_refused_the_screen_at_once(desktop: Service) -> None:
    with reporting_page(RECORDER) as (url, reports):
        assert ask(desktop, "navigate", url=url)[0] == 200
        found = ask(desktop, "find", query="record button")[1]["text"]
        ref = found.split("[")[1].split("]")[0]
        assert ask(desktop, "left_click", target={"ref": ref})[0] == 200
        assert reports.get(timeout=PATIENCE) == ("/seen", "NotAllowedError")


def answer_to(socket: ClientConnection, method: str, **parameters: str) -> Json:
    socket.send(json.dumps({"id": 1, "method": method, "params": parameters}))
    while True:
        found: Json = json.loads(socket.recv(timeout=PATIENCE))
        if found.get("id") == 1:
            return found


def test_an_extension_of_the_agent_is_not_loaded(desktop: Service) -> None:
    folder = output(desktop, "mkdir -p ~/reader && cd ~/reader && pwd")
    for name, text in (("manifest.json", json.dumps(READER)), ("reader.js", "1")):
        desktop.http.post(
            "/api/v0/write-file", params={"path": f"{folder}/{name}"}, content=text.encode()
        ).raise_for_status()
    headers = {"Authorization": f"Bearer {desktop.token}"}
    address = desktop.get("/api/v0/desktop/as/cdp/json/version")["webSocketDebuggerUrl"]
    with connect(address, additional_headers=headers, open_timeout=PATIENCE) as socket:
        found = answer_to(socket, "Extensions.loadUnpacked", path=folder)
    assert "administrator" in found["error"]["message"], found
