"""Set-up steps of OSWorld."""

from typing import Any

import pytest

from deskhand.tools.evaluation.osworld.gaps import BadOsworldTask, Gaps
from deskhand.tools.evaluation.osworld.setup_steps import command_line, read_config
from deskhand.tools.evaluation.task import PlacedFile, Setup


def step(kind: str, **parameters: Any) -> dict[str, Any]:
    return {"type": kind, "parameters": parameters}


def read(*steps: dict[str, Any]) -> Setup:
    gaps = Gaps()
    setup = read_config(list(steps), gaps)
    assert gaps.found == []
    return setup


def gaps_of(*steps: dict[str, Any]) -> list[str]:
    gaps = Gaps()
    read_config(list(steps), gaps)
    return gaps.found


def test_files_are_placed_and_moved_before_commands() -> None:
    setup = read(
        step("download", files=[{"url": "file:///data/a%20b.csv", "path": "/home/user/x y.csv"}]),
        step("upload_file", files=[{"local_path": "c.txt", "path": "c.txt"}]),
        step("execute", command=["python", "-c", "print('/home/user')"]),
        step("command", command="touch /home/user/d"),
    )
    assert setup.files == (
        PlacedFile("osworld/0", source="data/a b.csv"),
        PlacedFile("osworld/1", source="c.txt"),
    )
    assert [one.run for one in setup.commands] == [
        "mkdir -p {home} && mv osworld/0 '{home}/x y.csv'",
        "mkdir -p . && mv osworld/1 c.txt",
        "python3 -c 'print('\"'\"'{home}'\"'\"')'",
        "touch {home}/d",
    ]


def test_a_browser_is_launched_by_its_first_page() -> None:
    launched = step("launch", command=["google-chrome", "--remote-debugging-port=1337"])
    forwarded = step("launch", command=["socat", "tcp-listen:9222,fork", "tcp:localhost:1337"])
    assert read(launched, forwarded) == Setup(launch=("browser",))
    tabs = step("chrome_open_tabs", urls_to_open=["http://localhost:8000/a", "about:blank"])
    assert read(launched, forwarded, tabs) == Setup(open=("http://localhost:8000/a", "about:blank"))
    direct = step("launch", command="chromium file:///home/user/a.html")
    assert read(direct) == Setup(open=("file://{home}/a.html",))


def test_applications_and_files_are_opened() -> None:
    setup = read(
        step("launch", command=["xterm", "-e", "top"]),
        step("open", path="/home/user/a.txt"),
        step("sleep", seconds=3),
    )
    assert setup == Setup(open=("{home}/a.txt",), launch=("xterm -e top",))


@pytest.mark.parametrize(
    ("steps", "gap"),
    [
        ([step("close_window")], "config 1: the type 'close_window' (known are download, "),
        (
            [step("download", files=[{"url": "https://example.org/a", "path": "a"}])],
            "config 1: https://example.org/a (only files beside the task)",
        ),
        (
            [step("chrome_open_tabs", urls_to_open=["https://example.org"])],
            "config 1: https://example.org (it needs the internet)",
        ),
        (
            [step("execute", command="python -c 'import pyautogui'")],
            "config 1: a command that uses pyautogui",
        ),
        (
            [step("open", path="a"), step("execute", command="true")],
            "config 2: a file or command after something was opened or launched",
        ),
    ],
)
def test_what_is_not_supported_is_named(steps: list[dict[str, Any]], gap: str) -> None:
    (found,) = gaps_of(*steps)
    assert found.startswith(gap)


def test_a_command_is_a_text_or_a_list_of_texts() -> None:
    assert command_line({"command": "a b"}, "x") == "a b"
    assert command_line({"command": ["a", "b c"]}, "x") == "a 'b c'"
    given: list[dict[str, Any]] = [{}, *({"command": one} for one in ("", [], 3, [1]))]
    for wrong in given:
        with pytest.raises(BadOsworldTask):
            command_line(wrong, "x")


def test_steps_have_types() -> None:
    with pytest.raises(BadOsworldTask, match=r"config 1\.type: must be a text"):
        read({})


def test_steps_are_a_list() -> None:
    with pytest.raises(BadOsworldTask, match="config: must be a list"):
        read_config({}, Gaps())
