import json
from dataclasses import replace

from deskhand.desktop.geometry import Size
from deskhand.desktop.service.ready_message import ReadyMessage

READY = ReadyMessage("http://127.0.0.1:1", "dh_token", 7, ":1", Size(1920, 1080), "user", "1.0")


def test_a_program_reads_one_line_with_all_that_it_needs() -> None:
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


def test_an_attached_screen_says_so() -> None:
    assert json.loads(replace(READY, mode="attach").line())["mode"] == "attach"
