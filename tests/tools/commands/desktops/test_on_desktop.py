"""The commands that act on one desktop, on a control plane with canned answers."""

import json
import os
import subprocess
import sys
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.cli import run_line
from deskhand.tools.commands.desktops.copying import Place, place_of
from tests.tools.commands.fake_plane import Answer, FakePlane, fake_plane

ROOT = "/api/v0/desktops/d1"
WINDOW = {
    "id": 7,
    "title": "An\x1b[2J editor",
    "class": "Editor",
    "pid": 1,
    "geometry": {"x": 0, "y": 0, "width": 10, "height": 10},
    "native_geometry": {"x": 0, "y": 0, "width": 15, "height": 15},
    "focused": True,
}
EVENTS = (
    'event: output\ndata: {"output": "one\\n", "cursor": 0, "gap_bytes": 0}\n\n'
    ': idle\n\nevent: output\ndata: {"output": "two", "cursor": 4, "gap_bytes": 0}\n\n'
    'event: exit\ndata: {"exit_code": 3}\n\n'
)


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[FakePlane]:
    with fake_plane(tmp_path) as found:
        desktops = [{"id": "d1", "name": "one"}, {"id": "d2", "name": "two"}]
        found.answer("GET", "/api/v0/desktops", {"desktops": desktops})
        found.answer("GET", f"{ROOT}/desktop", {"instance_id": "i1"})
        found.answer("POST", f"{ROOT}/desktop/action", {"output": "", "screenshot": None})
        found.answer("POST", f"{ROOT}/processes/start", {"id": "p1"})
        stream = Answer(EVENTS.encode(), kind="text/event-stream")
        found.answers["GET", f"{ROOT}/processes/p1/stream"] = stream
        found.answers["GET", f"{ROOT}/read-file"] = Answer(b"\x00content", kind="text/plain")
        found.answer("POST", f"{ROOT}/write-file", {"message": "written"})
        found.answer("PUT", f"{ROOT}/desktop/clipboard", {})
        text = Answer(b"copied", kind="text/plain")
        found.answers["GET", f"{ROOT}/desktop/clipboard"] = text
        yield found


def acted(plane: FakePlane) -> Any:
    ((_, body),) = plane.sent("POST")
    return body


@pytest.mark.parametrize(
    ("line", "action"),
    [
        (
            "scroll 10 20 --direction up --notches 2",
            {"action": "scroll", "scroll_direction": "up", "scroll_amount": 2},
        ),
        (
            "drag 1 2 3 4 5 6",
            {"action": "left_click_drag", "path": [[1, 2], [3, 4], [5, 6]], "duration": 0.2},
        ),
        ("move -3 4", {"action": "mouse_move", "coordinate": [-3, 4]}),
        ("click 3 4", {"action": "left_click", "coordinate": [3, 4]}),
    ],
)
def test_an_action_is_sent_to_the_newest_desktop(
    plane: FakePlane, line: str, action: dict[str, Any], capsys: Any
) -> None:
    assert run_line([*line.split(), *plane.options]) == 0
    assert acted(plane).items() >= action.items()
    assert not capsys.readouterr().out


@pytest.mark.parametrize("points", [["1", "2"], ["1", "2", "3", "4", "5"]])
def test_a_drag_needs_whole_points(plane: FakePlane, points: list[str]) -> None:
    assert run_line(["drag", *points, *plane.options]) == 2


def test_a_command_prints_its_output_and_returns_its_code(plane: FakePlane, capsys: Any) -> None:
    assert run_line(["exec", "one", *plane.options, "--", "ls", "a b"]) == 3
    assert capsys.readouterr().out == "one\ntwo"
    assert acted(plane)["command"] == "ls 'a b'"


def test_one_word_is_a_line_of_the_shell(plane: FakePlane, capsys: Any) -> None:
    assert run_line(["exec", "d1", "--json", *plane.options, "--", "ls | wc"]) == 3
    assert json.loads(capsys.readouterr().out) == {"exit_code": 3, "output": "one\ntwo"}
    assert acted(plane)["command"] == "ls | wc"


def test_a_command_whose_end_is_not_known_has_failed(plane: FakePlane, capsys: Any) -> None:
    broken = Answer(EVENTS.partition("event: exit")[0].encode(), kind="text/event-stream")
    plane.answers["GET", f"{ROOT}/processes/p1/stream"] = broken
    assert run_line(["exec", "d1", *plane.options, "--", "ls"]) == 1
    assert "ended before" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["d", "three", ""])
def test_a_name_without_one_desktop_is_refused(plane: FakePlane, name: str, capsys: Any) -> None:
    arguments = ["cp", f"{name}:/tmp/a", "b"]
    assert run_line([*arguments, *plane.options]) in (2, 4)
    (error,) = capsys.readouterr().err.splitlines()
    assert error.startswith("deskhand: ")


def test_a_file_is_fetched_into_a_folder_under_its_name(
    plane: FakePlane, tmp_path: Path, capsys: Any
) -> None:
    assert run_line(["cp", "d1:/tmp/notes", str(tmp_path), *plane.options]) == 0
    assert (tmp_path / "notes").read_bytes() == b"\x00content"
    assert capsys.readouterr().out == f"{tmp_path}/notes: 8 B\n"


def test_a_file_is_stored_below_a_folder_of_the_desktop(plane: FakePlane, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff")
    assert run_line(["cp", str(tmp_path / "a"), "d1:/tmp/", *plane.options]) == 0
    ((path, body),) = plane.sent("POST")
    assert path.endswith("write-file?path=%2Ftmp%2Fa")
    assert body == b"\xff"


@pytest.mark.parametrize(("source", "target"), [("a", "b"), ("d1:", "b"), ("a", "d1:")])
def test_a_copy_without_a_desktop_or_path_is_refused(source: str, target: str) -> None:
    assert run_line(["cp", source, target]) == 2


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("d1:/tmp/a:b", Place("/tmp/a:b", "d1")),
        ("./a:b", Place("./a:b")),
        (":a", Place(":a")),
        ("-", Place("-")),
    ],
)
def test_a_colon_after_a_slash_belongs_to_the_path(text: str, place: Place) -> None:
    assert place_of(text) == place


def test_the_clipboard_is_printed_as_it_is(plane: FakePlane, capsys: Any) -> None:
    assert run_line(["clipboard", *plane.options]) == 0
    assert capsys.readouterr().out == "copied"
    assert run_line(["clipboard", "new", *plane.options]) == 0
    assert plane.sent("PUT") == [(f"{ROOT}/desktop/clipboard", {"text": "new"})]


@pytest.mark.parametrize(("name", "removed"), [("two", ["d2"]), ("three", [])])
def test_no_desktop_ends_if_one_name_is_wrong(
    plane: FakePlane, name: str, removed: list[str]
) -> None:
    plane.answer("DELETE", "/api/v0/desktops/d2", status=204)
    run_line(["desktops", "rm", "two", name, *plane.options])
    assert {path.rpartition("/")[2] for path, _ in plane.sent("DELETE")} == set(removed)


def test_titles_of_windows_do_not_control_the_terminal(plane: FakePlane, capsys: Any) -> None:
    plane.answer("GET", f"{ROOT}/desktop/windows", {"windows": [WINDOW]})
    assert run_line(["windows", *plane.options]) == 0
    shown = capsys.readouterr().out
    assert "focused" in shown
    assert "An [2J editor" in shown


def test_a_change_of_a_window_needs_its_id(plane: FakePlane, capsys: Any) -> None:
    assert run_line(["windows", "focus", *plane.options]) == 2
    assert "focus ID" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "path", "body"),
    [
        ("https://a.example", "open", {"url": "https://a.example"}),
        ("/tmp/a.txt", "open", {"path": "/tmp/a.txt"}),
        ("editor", "launch", {"name": "editor", "arguments": ["-x"]}),
    ],
)
def test_an_address_a_file_or_an_application_is_opened(
    plane: FakePlane, target: str, path: str, body: dict[str, Any], capsys: Any
) -> None:
    started = {"process_id": "p", "command": "editor -x"}
    plane.answer("POST", f"{ROOT}/desktop/{path}", started)
    more = ["-x"] if target == "editor" else []
    assert run_line(["launch", target, *more, *plane.options]) == 0, capsys.readouterr()
    ((_, sent),) = plane.sent("POST")
    assert sent.items() >= body.items() or "arguments" in body


RUN = "import sys; from deskhand.tools.cli import run_line; sys.exit(run_line(sys.argv[1:]))"


@dataclass
class Written:
    """The output of a program."""

    end: int
    read: bytes = b""


@contextmanager
def output(*, is_terminal: bool) -> Iterator[Written]:
    """Yield a pseudo-terminal, or a pipe, for a program that prints little; then read it."""
    ours, theirs = os.openpty() if is_terminal else os.pipe()
    if is_terminal:
        tty.setraw(theirs)
    try:
        written = Written(theirs)
        yield written
        # Everything is in the buffer of the kernel, as the program has ended.
        written.read = os.read(ours, 65_536)
    finally:
        os.close(ours)
        os.close(theirs)


ATTACK = "\x1b]52;c;cm0gLXJm\x07\x1b[2J\x1b[31mred\x1b[0m 50%\r100%"
"""Writes the clipboard (OSC 52), clears the screen, and prints over its own text."""


@pytest.mark.parametrize(
    ("options", "is_terminal", "printed"),
    [
        ((), True, b"red 50%\n100%"),
        (("--raw",), True, ATTACK.encode()),
        ((), False, ATTACK.encode()),
        (("--raw",), False, ATTACK.encode()),
    ],
)
def test_output_is_cleaned_on_a_terminal(
    plane: FakePlane, options: tuple[str, ...], is_terminal: bool, printed: bytes
) -> None:
    # One sequence is divided between two events.
    pieces = (ATTACK[:10], ATTACK[10:])
    outputs = (
        f"event: output\ndata: {json.dumps({'output': one, 'cursor': 0, 'gap_bytes': 0})}\n\n"
        for one in pieces
    )
    stream = "".join(outputs) + 'event: exit\ndata: {"exit_code": 0}\n\n'
    answer = Answer(stream.encode(), kind="text/event-stream")
    plane.answers["GET", f"{ROOT}/processes/p1/stream"] = answer
    with output(is_terminal=is_terminal) as written:
        program = (sys.executable, "-c", RUN, "exec", "d1", *options, *plane.options, "--", "ls")
        assert subprocess.run(program, stdout=written.end, check=False).returncode == 0
    assert written.read == printed
