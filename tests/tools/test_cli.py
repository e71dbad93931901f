"""Every command, in the process of the test: its help, wrong input, and no control plane."""

import io
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from deskhand.tools.cli import app, print_internal_error, run_line
from tests.tools.commands.fake_plane import Answer, FakePlane, fake_plane

ID = "0b8b6f3c-9d0a-4b62-8c63-5c1f6c0e7d11"
CHAT = {
    "id": ID,
    "title": "Open the \x1b[2Jsettings",
    "state": "waiting",
    "turn": 1,
    "outcome": "done",
    "model": "scripted:tour",
    "desktop_id": "d1",
    "created_at": 1.0,
    "started_at": 1.0,
    "ended_at": 8.0,
    "step_count": 1,
    "usage": {"input_tokens": 12_345, "output_tokens": 7},
    "requires_action": None,
    "last_error": None,
    "report": "It is open.",
    "recording_file_ids": ["f1"],
}
STEP = {"index": 0, "title": "Click", "started_at": 1.0, "ended_at": 1.2, "error": None}
ON_DESKTOP = "/api/v0/desktops/d1"
DESKTOP = {"id": "d1", "name": "one", "status": "ready", "created_at": 1.0, "chat_id": ID}


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


ALL = sorted(commands(typer.main.get_command(app)))
ON_PLANE = (
    ("ps",),
    ("runs", "list"),
    ("runs", "show", ID),
    ("runs", "logs", ID),
    ("runs", "stop", ID),
    ("runs", "say", ID, "hello"),
    ("runs", "answer", ID, "yes"),
    ("runs", "open", ID),
    ("runs", "share", ID),
    ("runs", "report", ID, "PLACE"),
    ("runs", "sheet", ID, "PLACE", "--steps", "failed"),
    ("runs", "trail", ID, "PLACE"),
    ("runs", "waterfall", ID),
    ("desktops", "list"),
    ("desktops", "new"),
    ("desktops", "rm", "d1"),
    ("desktops", "open", "d1"),
    ("exec", "d1", "--", "true"),
    ("cp", "d1:/tmp/a", "PLACE"),
    ("secret", "list"),
    ("secret", "rm", "mail"),
    ("token", "new", "admin"),
    ("token", "list"),
    ("token", "rm", "t1"),
    ("open",),
    ("url",),
    ("audit",),
)
WRONG = (
    ("fly",),
    ("runs", "fly"),
    ("--fly",),
    ("click", "left", "3"),
    ("click",),
    ("runs", "list", "--limit", "many"),
    ("runs", "list", "--json", "--jsonl"),
    ("runs", "logs", ID, "--follow", "--json"),
    ("ps", "extra"),
    ("wait",),
    ("token", "new", "admin", "--hours", "0"),
    ("secret", "set"),
    ("windows", "burn"),
    ("scroll", "1", "2", "--direction", "away"),
    ("exec", "d1"),
)


WATERFALL = {
    "seconds": 2.0,
    "totals": {"model": 1.5, "action": 0.5},
    "rows": [
        {
            **{"index": 0, "id": "s", "title": "Click", "what": "left_click", "failed": False},
            "spans": [{"kind": "model", "begin": 0.0, "end": 1.5}],
        }
    ],
    "advice": [{"rule": "model", "seconds": 1.5, "text": "The model took long."}],
}


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[FakePlane]:
    with fake_plane(tmp_path) as found:
        found.answer("GET", "/api/v0/runs", {"chats": [CHAT], "next_cursor": None})
        found.answer("GET", "/api/v0/desktops", {"desktops": [DESKTOP]})
        found.answer("GET", f"/api/v0/runs/{ID}", {"chat": {**CHAT, "steps": [STEP]}})
        found.answer("GET", f"/api/v0/chats/{ID}", {**CHAT, "steps": [STEP]})
        for change in ("interrupt", "messages", "answer"):
            found.answer("POST", f"/api/v0/chats/{ID}/{change}", CHAT)
        found.answer("POST", "/api/v0/login/codes", {"code": "once"})
        found.answer("POST", "/api/v0/tokens", {"id": "t1", "token": "dh_shared"}, 201)
        found.answer("GET", "/api/v0/audit", {"records": []})
        token = {"id": "t1", "scopes": ["admin"], "name": "", "expires_at": None}
        found.answer("GET", "/api/v0/tokens", {"tokens": [token]})
        found.answer("DELETE", "/api/v0/tokens/t1", status=204)
        secret = {"name": "mail", "state": "ready", "chats": None, "domains": ["a.example"]}
        found.answer("GET", "/api/v0/secrets", {"secrets": [secret]})
        found.answer("PUT", "/api/v0/secrets/mail", secret)
        found.answer("DELETE", "/api/v0/secrets/mail", status=204)
        found.answer("GET", f"/api/v0/runs/{ID}/waterfall", WATERFALL)
        pictures = (("sheet.png", "image/png"), ("trail.png", "image/png"))
        for name, kind in (("report.html", "text/html"), *pictures):
            found.answers["GET", f"/api/v0/runs/{ID}/{name}"] = Answer(b"made", kind=kind)
        found.answer("POST", "/api/v0/desktops", DESKTOP, 201)
        found.answer("DELETE", "/api/v0/desktops/d1", status=204)
        found.answer("POST", f"{ON_DESKTOP}/processes/start", {"id": "p1"})
        ended = b'event: exit\ndata: {"exit_code": 0}\n\n'
        found.answers["GET", f"{ON_DESKTOP}/processes/p1/stream"] = Answer(
            ended, kind="text/event-stream"
        )
        found.answers["GET", f"{ON_DESKTOP}/read-file"] = Answer(b"content", kind="text/plain")
        yield found


def line_of(arguments: tuple[str, ...], folder: Path) -> list[str]:
    """Return a command line with a file of the test in it."""
    return [str(folder / "copied") if one == "PLACE" else one for one in arguments]


def options_first(arguments: list[str], options: list[str]) -> list[str]:
    """Return a command line with options before a ``--``, after which all is an argument."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:at], *options, *arguments[at:]]


def one_error(errors: str) -> str:
    """Return an error, which is one line."""
    (line,) = errors.splitlines()
    assert line.startswith("deskhand: ")
    assert "Error" not in line
    return line


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_every_command_has_help(command: tuple[str, ...], capsys: Any) -> None:
    if command == ("desktop",):
        pytest.skip("its options are those of the desktop service")
    assert run_line([*command, "--help"]) == 0
    assert "Usage: deskhand" in capsys.readouterr().out


def test_without_arguments_the_groups_and_examples_are_printed(capsys: Any) -> None:
    assert run_line([]) == 0
    shown = capsys.readouterr()
    assert not shown.err
    for text in ("Runs", "Desktops", "The service", "Examples:", "deskhand up", "deskhand run"):
        assert text in shown.out


def test_a_group_without_a_command_is_an_error_of_usage(capsys: Any) -> None:
    assert run_line(["runs"]) == 2
    assert "logs" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_input_is_one_line(arguments: tuple[str, ...], capsys: Any) -> None:
    assert run_line([*arguments]) == 2
    shown = capsys.readouterr()
    assert one_error(shown.err).endswith("--help")
    assert not shown.out


@pytest.mark.parametrize("arguments", ON_PLANE, ids=" ".join)
def test_without_a_control_plane_the_fix_is_named(
    tmp_path: Path, arguments: tuple[str, ...], capsys: Any
) -> None:
    assert run_line(options_first(line_of(arguments, tmp_path), ["--data-dir", str(tmp_path)])) == 4
    assert "deskhand up" in one_error(capsys.readouterr().err)


@pytest.mark.parametrize("arguments", [("ps",), ("runs", "show", ID), ("open",)], ids=" ".join)
def test_an_address_that_does_not_answer_is_named(
    tmp_path: Path, arguments: tuple[str, ...], capsys: Any
) -> None:
    (tmp_path / "token").write_text("dh_any")
    with socket.create_server(("127.0.0.1", 0)) as bound:
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    assert run_line([*arguments, "--data-dir", str(tmp_path), "--url", url]) == 4
    error = one_error(capsys.readouterr().err)
    assert f"no control plane answers at {url}" in error
    assert error.endswith("start one: deskhand up")


@pytest.mark.parametrize("arguments", ON_PLANE, ids=" ".join)
def test_json_is_one_object(plane: FakePlane, arguments: tuple[str, ...], capsys: Any) -> None:
    assert (
        run_line(options_first(line_of(arguments, plane.folder), ["--json", *plane.options])) == 0
    )
    shown = capsys.readouterr()
    assert not shown.err
    assert isinstance(json.loads(shown.out), dict)


@pytest.mark.parametrize("arguments", ON_PLANE, ids=" ".join)
def test_a_refusal_is_one_line(plane: FakePlane, arguments: tuple[str, ...], capsys: Any) -> None:
    plane.answers.clear()
    assert run_line(options_first(line_of(arguments, plane.folder), plane.options)) in (1, 4)
    assert "not found" in one_error(capsys.readouterr().err)


@pytest.mark.parametrize("columns", ["60", "200"])
@pytest.mark.parametrize(
    "arguments", [("ps", "--all"), ("runs", "list"), ("secret", "list")], ids=" ".join
)
def test_a_table_fits_the_terminal(
    plane: FakePlane,
    arguments: tuple[str, ...],
    columns: str,
    capsys: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert run_line([*arguments, *plane.options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= int(columns) for line in lines)
    assert any(ID in line or "a.example" in line for line in lines)
    assert not any("\x1b" in line for line in lines)


def test_the_table_of_all_that_works_has_runs_and_desktops(plane: FakePlane, capsys: Any) -> None:
    running = {**CHAT, "state": "running"}
    plane.answer("GET", "/api/v0/runs", {"chats": [running, CHAT], "next_cursor": None})
    assert run_line(["ps", "--jsonl", *plane.options]) == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["kind"], one["id"]) for one in shown] == [("run", ID), ("desktop", "d1")]


def test_the_list_of_runs_follows_the_pages_up_to_its_limit(plane: FakePlane, capsys: Any) -> None:
    plane.answer("GET", "/api/v0/runs", {"chats": [CHAT], "next_cursor": ID})
    assert run_line(["runs", "list", "-n", "2", "--search", "two words", *plane.options]) == 0
    (first, _), (second, _) = plane.sent("GET")
    assert "q=two+words" in first
    assert "limit=2" in first
    assert "cursor=" not in first
    assert f"cursor={ID}" in second
    assert "limit=1" in second
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_the_beginning_of_an_id_names_a_run(plane: FakePlane, capsys: Any) -> None:
    assert run_line(["runs", "show", ID[:6], *plane.options]) == 0
    shown = capsys.readouterr().out
    assert f"Run:       {ID}" in shown
    assert "Tokens:    12.3k in, 7 out" in shown
    assert "Report:    It is open." in shown


@pytest.mark.parametrize(("name", "text"), [("zz", "no run zz"), ("0", "it may be")])
def test_a_name_without_one_run_is_refused(
    plane: FakePlane, name: str, text: str, capsys: Any
) -> None:
    other = {**CHAT, "id": "0c" + ID[2:]}
    plane.answer("GET", "/api/v0/runs", {"chats": [CHAT, other], "next_cursor": None})
    assert run_line(["runs", "stop", name, *plane.options]) == 1
    assert text in one_error(capsys.readouterr().err)
    assert not plane.sent("POST")


@pytest.mark.parametrize("follow", [(), ("--follow",)])
def test_the_steps_of_a_run_at_rest_are_printed_with_its_report(
    plane: FakePlane, follow: tuple[str, ...], capsys: Any
) -> None:
    assert run_line(["runs", "logs", ID, *follow, *plane.options]) == 0
    assert capsys.readouterr().out == "  -   1  Click  (200 ms)\nReport: It is open.\n"


def test_messages_and_answers_reach_the_run(plane: FakePlane, capsys: Any) -> None:
    assert run_line(["runs", "say", ID, "faster", "--now", *plane.options]) == 0
    assert run_line(["runs", "answer", ID, "approve", *plane.options]) == 0
    assert run_line(["runs", "stop", ID, *plane.options]) == 0
    assert plane.sent("POST") == [
        (f"/api/v0/chats/{ID}/messages", {"message": "faster", "interrupt": True}),
        (f"/api/v0/chats/{ID}/answer", {"answer": "approve"}),
        (f"/api/v0/chats/{ID}/interrupt", b""),
    ]
    assert "\x1b" not in capsys.readouterr().out


def test_a_shared_link_shows_one_run_for_its_hours(plane: FakePlane, capsys: Any) -> None:
    assert run_line(["runs", "share", ID, "--hours", "1", *plane.options]) == 0
    assert capsys.readouterr().out == f"{plane.url}/login?next=/runs/{ID}#code=dh_shared\n"
    ((_, body),) = plane.sent("POST")
    assert body["scopes"] == [f"run:{ID}:view"]
    assert body["ttl_s"] == 3600.0


def test_the_page_of_a_run_is_opened_with_a_link_that_signs_in_once(
    plane: FakePlane, capsys: Any
) -> None:
    assert run_line(["runs", "open", ID, "--print", *plane.options]) == 0
    assert capsys.readouterr().out == f"{plane.url}/login?next=/runs/{ID}#code=once\n"


def test_the_value_of_a_secret_comes_from_the_input(
    plane: FakePlane, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hush-hush\n"))
    assert run_line(["secret", "set", "mail", "--domain", "a.example", *plane.options]) == 0
    assert plane.sent("PUT") == [
        ("/api/v0/secrets/mail", {"value": "hush-hush", "domains": ["a.example"]})
    ]
    assert "hush" not in "".join(capsys.readouterr())


def test_a_secret_without_a_value_is_refused(
    plane: FakePlane, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run_line(["secret", "set", "mail", "--anywhere", *plane.options]) == 2
    assert "no value" in one_error(capsys.readouterr().err)


def test_a_token_is_printed_alone_and_ends_in_time(plane: FakePlane, capsys: Any) -> None:
    arguments = ["token", "new", "chat:c1", "--name", "ci", "--hours", "2", *plane.options]
    assert run_line(arguments) == 0
    assert capsys.readouterr().out == "dh_shared\n"
    ((_, body),) = plane.sent("POST")
    assert body == {"scopes": ["chat:c1"], "name": "ci", "ttl_s": 7200.0}


def test_a_sheet_of_a_run_is_written_to_a_file(plane: FakePlane, tmp_path: Path) -> None:
    to = tmp_path / "sheet.png"
    assert run_line(["runs", "sheet", ID, str(to), "--columns", "3", *plane.options]) == 0
    assert to.read_bytes() == b"made"
    ((path, _),) = plane.sent("GET")
    assert path.endswith("sheet.png?columns=3&steps=all")


def test_a_trail_and_a_report_with_the_video_are_written(plane: FakePlane, tmp_path: Path) -> None:
    to = str(tmp_path / "made")
    assert run_line(["runs", "trail", ID, to, "--steps", "2-3", *plane.options]) == 0
    assert run_line(["runs", "report", ID, to, "--video", *plane.options]) == 0
    paths = [path for path, _ in plane.sent("GET")]
    assert paths[0].endswith("trail.png?steps=2-3")
    assert paths[1].endswith("report.html?video=true")


def test_the_time_of_a_run_is_a_table_with_advice(plane: FakePlane, capsys: Any) -> None:
    assert run_line(["runs", "waterfall", ID, *plane.options]) == 0
    printed = capsys.readouterr().out
    assert "75 %" in printed
    assert "The model took long." in printed


def test_an_internal_error_is_one_line(capsys: Any) -> None:
    error = KeyError("the field\nis missing")
    print_internal_error(type(error), error, None)
    assert "the field" in one_error(capsys.readouterr().err)
