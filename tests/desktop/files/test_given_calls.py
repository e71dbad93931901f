"""The given cases of file changes that are made once for each tool call."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.desktop.processes.service import LIMIT, Service, running
from tests.given import CASES, assert_subset, named

Json = dict[str, Any]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running() as service:
        yield service


class Call:
    """One tool call that changes a file, by either route."""

    def __init__(self, service: Service, folder: Path, area: str) -> None:
        self.service = service
        self.is_edit = area == "file.edit.toolcall"
        self.file = folder / "file.txt"
        self.file.write_text("one\n")
        self.id = str(uuid4())
        self.chat = str(uuid4())

    def send(self, new: str = "one two\n", age_ms: int = 0, once: bool = True) -> httpx2.Response:
        headers = {"Deskhand-Chat-Id": self.chat}
        if once:
            headers |= {"Deskhand-Tool-Call-Id": self.id}
            headers |= {"Deskhand-Tool-Call-Age-Ms": str(age_ms)}
        if not self.is_edit:
            path = {"path": str(self.file)}
            return self.service.request(
                "POST", "/api/v0/write-file", params=path, content=new, headers=headers
            )
        edit = {"old_text": "one\n", "new_text": new}
        body = {"files": [{"path": str(self.file), "edits": [edit]}], "include_diff": True}
        return self.service.request("POST", "/api/v0/edit-files", json=body, headers=headers)

    def cancel(self) -> httpx2.Response:
        headers = {"Deskhand-Chat-Id": self.chat}
        path = f"/api/v0/tool-calls/{self.id}/cancel"
        return self.service.request("POST", path, headers=headers)


@pytest.fixture
def call_of(service: Service, tmp_path: Path) -> Callable[[str], Call]:
    return lambda name: Call(service, tmp_path, CASES[name]["area"])


def play(name: str, call: Call) -> None:
    expect = CASES[name]["expect"]
    match name.rpartition("/")[2]:
        case "new":
            assert call.send().status_code == expect["status"]
            assert call.file.read_text() == "one two\n"
        case "repeat_gets_recorded_response":
            first, second = call.send(), call.send()
            assert (first.status_code, first.content) == (expect["status"], second.content)
            assert call.file.read_text() == "one two\n"
        case "agent_younger":
            # Longer than any of these tests takes.
            check_refused(call.send(age_ms=3_600_000), expect)
        case "without_headers_independent":
            inode = call.file.stat().st_ino
            assert call.send("one\nx", once=False).status_code == expect["status"]
            assert call.file.stat().st_ino != inode
            assert call.send("one\ny", once=False).status_code == expect["status"]
            assert call.file.read_text().startswith("one\ny")
        case "other_input":
            call.send()
            check_refused(call.send("another\n"), expect)
            assert call.file.read_text() == "one two\n"
        case "recorded_failure_is_replayed":
            call.file.unlink()
            call.file.mkdir()
            first = call.send()
            call.file.rmdir()
            second = call.send()
            assert (first.status_code, first.content) == (expect["status"], second.content)
            assert not call.file.exists()
        case "eight_concurrent":
            with ThreadPoolExecutor(8) as pool:
                futures = [pool.submit(call.send) for _ in range(8)]
                answers = [future.result(LIMIT) for future in futures]
            assert {answer.status_code for answer in answers} == {expect["status"]}
            assert len({answer.content for answer in answers}) == 1
            assert [entry.name for entry in call.file.parent.iterdir()] == ["file.txt"]
        case other:
            play_cancel(other, call, expect)


def play_cancel(what: str, call: Call, expect: Json) -> None:
    match what:
        case "cancel_applied_returns_recorded_response" | "cancel_in_progress_waits":
            applied = call.send()
            canceled = call.cancel()
            assert_subset(canceled.json(), expect["body"])
            assert canceled.json()["body"] == applied.json()
        case "canceled_before":
            call.cancel()
            check_refused(call.send(), expect)
            assert call.file.read_text() == "one\n"
        case "cancel_never_received":
            assert_subset(call.cancel().json(), expect["body"])
            check_refused(call.send(), expect["later_request"])
        case other:
            raise AssertionError(other)


def check_refused(answer: httpx2.Response, expect: Json) -> None:
    assert answer.status_code == expect["status"]
    assert answer.json()["code"] == expect["code"]


@pytest.mark.parametrize("name", named("file.edit.toolcall", "file.write.toolcall"))
def test_a_given_case_of_a_change_made_once(name: str, call_of: Callable[[str], Call]) -> None:
    play(name, call_of(name))


def test_a_malformed_chat_may_change_nothing(service: Service, tmp_path: Path) -> None:
    call = Call(service, tmp_path, "file.write.toolcall")
    call.chat = "junk"
    assert call.send().status_code == 400
    assert call.send(once=False).status_code == 400
    assert call.file.read_text() == "one\n"
