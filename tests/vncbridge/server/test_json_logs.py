import asyncio
import contextlib
import io
import json
import logging
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from starlette.types import Message, Receive, Scope, Send

from deskhand.vncbridge.server.access_log import AccessLog
from deskhand.vncbridge.server.json_logs import (
    ErrorStream,
    LogFile,
    StandardError,
    log_context,
    logged,
    set_log_context,
)

CHAT, PARENT = str(uuid4()), str(uuid4())
ours = logging.getLogger("deskhand.desktop.display.supervisor")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with logged(tmp_path / "logs"):
        yield tmp_path / "logs"


def lines(folder: Path) -> list[Any]:
    file = folder / "service.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_a_line_says_when_who_and_how_grave(folder: Path) -> None:
    ours.warning("the display is started again: %s", "it died")
    (line,) = lines(folder)
    assert line.pop("time").endswith("Z")
    assert line == {
        "event": "the display is started again: it died",
        "level": "warning",
        "logger": "deskhand.desktop.display.supervisor",
    }


def test_what_a_request_makes_the_code_say_names_its_chat(folder: Path) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        ours.info("in the handler")
        await asyncio.to_thread(ours.info, "in its thread")
        await asyncio.create_task(later())

    async def later() -> None:
        ours.info("in its task")

    async def nothing() -> Message:
        raise AssertionError

    async def ignore(_: Message) -> None:
        pass

    headers = {
        "deskhand-chat-id": CHAT,
        "deskhand-ancestor-chat-ids": json.dumps([PARENT]),
        "deskhand-tool-call-id": "call-1",
    }
    scope: Scope = {"type": "http", "method": "POST", "path": "/api/v0/x"}
    scope["headers"] = [(key.encode(), value.encode()) for key, value in headers.items()]
    asyncio.run(AccessLog(app)(scope, nothing, ignore))
    ours.info("after it")
    marks = ("chat_id", "ancestor_chat_ids", "tool_call_id")
    said = {line["event"]: tuple(line.get(mark) for mark in marks) for line in lines(folder)}
    mine = (CHAT, [PARENT], "call-1")
    assert said == {
        "in the handler": mine,
        "in its thread": mine,
        "in its task": mine,
        "after it": (None, None, None),
    }


def test_the_task_of_a_chat_is_not_marked_with_the_request_that_started_it(folder: Path) -> None:
    async def work() -> None:
        set_log_context({"chat_id": CHAT})
        ours.info("at work")

    async def scene() -> None:
        with log_context({"chat_id": PARENT, "tool_call_id": "spawn"}):
            await asyncio.create_task(work())
            ours.info("spawned")

    asyncio.run(scene())
    at_work, spawned = lines(folder)
    assert (at_work["chat_id"], at_work.get("tool_call_id")) == (CHAT, None)
    assert (spawned["chat_id"], spawned["tool_call_id"]) == (PARENT, "spawn")


def test_an_error_keeps_where_it_came_from_in_its_one_line(folder: Path) -> None:
    try:
        raise RuntimeError("broken")
    except RuntimeError:
        ours.exception("it failed")
    (line,) = lines(folder)
    assert line["level"] == "error"
    assert "test_json_logs.py" in line["exception"]
    assert "RuntimeError: broken" in line["exception"]


def test_of_others_only_warnings_are_kept_and_requests_have_a_file_of_their_own(
    folder: Path,
) -> None:
    logging.getLogger("sqlalchemy.engine").info("SELECT 1")
    logging.getLogger("sqlalchemy.engine").warning("odd")
    logging.getLogger("deskhand.access").info("{}")
    assert [line["event"] for line in lines(folder)] == ["odd"]
    assert (folder / "access.jsonl").read_text() == "{}\n"


def test_a_warning_reaches_the_standard_error_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours.info("all is well")
    ours.warning("look here")
    err = capsys.readouterr().err
    assert err.endswith(f" warning {ours.name}: look here\n")
    assert err.count("\n") == 1


def test_a_line_may_name_a_file_that_no_encoding_holds(folder: Path) -> None:
    ours.info("%s is gone", os.fsdecode(b"caf\xe9 \xe8\x8c\xb6"))
    (line,) = lines(folder)
    assert line["event"] == "caf\udce9 茶 is gone"


def test_a_closed_log_takes_nothing_more(tmp_path: Path) -> None:
    root = logging.getLogger()
    before = (list(root.handlers), ours.getEffectiveLevel())
    with logged(tmp_path / "logs"):
        ours.info("one")
    ours.info("two")
    assert [line["event"] for line in lines(tmp_path / "logs")] == ["one"]
    assert (list(root.handlers), ours.getEffectiveLevel()) == before


def test_secrets_are_masked_in_the_records_of_the_code(tmp_path: Path) -> None:
    def hide(text: str) -> str:
        return text.replace("horse", "••••")

    with logged(tmp_path / "logs", hide), log_context({"chat": "of a horse"}):
        try:
            raise ValueError("no horse")
        except ValueError:
            ours.exception("a %s", "horse")
    assert "horse" not in (tmp_path / "logs" / "service.jsonl").read_text()
    (line,) = lines(tmp_path / "logs")
    assert (line["event"], line["chat"]) == ("a ••••", "of a ••••")


def test_a_full_disk_costs_records_and_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Every write to this device fails with ENOSPC.
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "service.jsonl").symlink_to("/dev/full")
    with logged(tmp_path / "logs"):
        ours.info("the disk is full")
    assert capsys.readouterr().err == ""


def test_another_error_of_a_record_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = LogFile(tmp_path / "service.jsonl")
    file.handle(logging.makeLogRecord({"msg": "%d", "args": ("no number",)}))
    file.close()
    assert "--- Logging error ---" in capsys.readouterr().err
    assert lines(tmp_path) == []


def test_a_record_may_name_its_callers(folder: Path) -> None:
    ours.info("from here", stack_info=True)
    (line,) = lines(folder)
    assert "test_a_record_may_name_its_callers" in line["stack_info"]


def shown(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    what: StandardError,
    hide: Callable[[str], str] = str,
) -> list[str]:
    with logged(folder, hide, what), log_context({"chat_id": CHAT, "request_id": "r1"}):
        logger = logging.getLogger("deskhand.tools.somewhere")
        logger.info("as usual")
        try:
            raise ValueError("two\nlines")
        except ValueError:
            logger.exception("it broke\nat %s", "once")
    return capsys.readouterr().err.splitlines()


def test_each_entry_on_the_standard_error_is_one_line_with_its_ids(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = shown(tmp_path, capsys, StandardError())
    assert re.sub(r"^\S+Z ", "", line) == (
        "error deskhand.tools.somewhere: it broke\\nat once"
        f" chat_id={CHAT} request_id=r1 | ValueError: two\\nlines"
    )


def test_the_standard_error_has_the_level_and_format_of_the_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = shown(tmp_path, capsys, StandardError("info", "json"))
    assert json.loads(first)["event"] == "as usual"
    assert json.loads(second)["request_id"] == "r1"
    assert "Traceback" in json.loads(second)["exception"]


def test_secrets_are_masked_on_the_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = shown(
        tmp_path, capsys, StandardError(), lambda text: text.replace("once", "[secret]")
    )
    assert "[secret]" in line
    assert "once" not in line


class BrokenStream(io.StringIO):
    """Fails the first write, and passes later ones on."""

    def __init__(self, error: Exception, later: io.StringIO) -> None:
        super().__init__()
        self._error: Exception | None = error
        self._later = later

    def write(self, text: str) -> int:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return self._later.write(text)


@pytest.mark.parametrize("gone", [True, False])
def test_a_standard_error_without_a_reader_costs_no_traceback(gone: bool) -> None:
    stream, reports = ErrorStream(logging.INFO), io.StringIO()
    broken = BrokenStream(BrokenPipeError() if gone else ValueError("closed"), reports)
    with contextlib.redirect_stderr(broken):
        stream.emit(logging.LogRecord("a", logging.INFO, "", 0, "text", (), None))
    assert bool(reports.getvalue()) is not gone
