import json
from dataclasses import replace

from deskhand.desktop.geometry import Size
from deskhand.desktop.service.ready_message import ReadyMessage

READY = ReadyMessage("http://127.0.0.1:1", "dh_token", 7, ":1", Size(1920, 1080), "user", "1.0")


def test_the_message_is_one_line_of_json() -> None:
    assert "\n" not in READY.line()
    assert json.loads(READY.line()) == {
        "url": "http://127.0.0.1:1",
        "token": "dh_token",
        "pid": 7,
        "display": ":1",
        "size": [1920, 1080],
        "level": "user",
        "version": "1.0",
    }


def test_the_message_of_an_attached_screen_has_a_mode() -> None:
    assert json.loads(replace(READY, mode="attach").line())["mode"] == "attach"


def test_a_browser_without_its_sandbox_is_reported() -> None:
    warning = "The browser runs without its sandbox: why"
    assert json.loads(replace(READY, browser_warning=warning).line())["browser_warning"] == warning


def test_the_egress_and_missing_protections_are_reported() -> None:
    missing = ("egress: open, because nft is not installed (apt-get install nftables)",)
    egress = {"mode": "open", "because": "nft is not installed (apt-get install nftables)"}
    message = json.loads(replace(READY, warnings=missing, egress=egress).line())
    assert message["missing_protections"] == list(missing)
    assert message["egress"] == egress


def test_the_dialects_that_are_on_are_reported() -> None:
    assert "speak" not in json.loads(READY.line())
    assert json.loads(replace(READY, speak=("osworld",)).line())["speak"] == ["osworld"]
