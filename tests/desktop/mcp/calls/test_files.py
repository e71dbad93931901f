import asyncio
from typing import Any

import pytest

from deskhand.desktop.errors import BadField
from deskhand.desktop.mcp.calls.files import FileCalls
from deskhand.desktop.mcp.errors import McpError
from tests.desktop.mcp.fakes import FakeDesktop, given

READ, LIST = "GET /api/v0/read-file-lines", "POST /api/v0/list-directory"
WRITE, EDIT = "POST /api/v0/write-file", "POST /api/v0/edit-files"
SEARCH = "POST /api/v0/search"


def test_lines_of_a_file_are_read() -> None:
    fake = FakeDesktop({READ: {"success": True, "content": "2\tb", "total_lines": 9}})
    arguments = {"path": " /a ", "offset": 2, "limit": "1"}
    found = asyncio.run(FileCalls(fake).read_file(given("read_file", arguments)))
    assert (found.text, found.content["total_lines"]) == ("2\tb", 9)
    params = {"path": "/a", "partial": "true", "offset": "2", "limit": "1"}
    assert fake.sent(READ) == [params]


def test_a_directory_is_listed() -> None:
    contents = [{"name": f"f{n}", "is_dir": n == 1} for n in range(3)]
    refused = {"success": False, "error": "not a file"}
    fake = FakeDesktop({READ: refused, LIST: {"contents": contents}})
    found = asyncio.run(
        FileCalls(fake).read_file(given("read_file", {"path": "/a", "offset": 2, "limit": 1}))
    )
    assert found.text == "Directory of 3 entries:\n2\tf1/"
    assert found.content["truncated"] is True
    whole = asyncio.run(FileCalls(fake).read_file(given("read_file", {"path": "/a"})))
    assert whole.content["content"] == "1\tf0\n2\tf1/\n3\tf2"


def test_a_file_that_cannot_be_read_is_an_error() -> None:
    fake = FakeDesktop({READ: {"success": False, "error": "no such file"}})
    found = asyncio.run(FileCalls(fake).read_file(given("read_file", {"path": "/a"})))
    assert (found.text, found.is_error) == ("no such file", True)


def test_a_file_is_written() -> None:
    fake = FakeDesktop({WRITE: {}})
    found = asyncio.run(
        FileCalls(fake).write_file(given("write_file", {"path": "/a", "content": ""}))
    )
    assert found.content == {"ok": True}
    assert fake.sent(WRITE) == [b""]
    with pytest.raises(BadField, match="content"):
        asyncio.run(FileCalls(fake).write_file(given("write_file", {"path": "/a"})))


def test_edits_are_grouped_by_file() -> None:
    fake = FakeDesktop({EDIT: {"files": [{"path": "/a", "diff": "-x"}]}})
    first = {"path": "/a", "old_text": "x", "new_text": "y"}
    other = {"path": "/b", "old_text": "x", "new_text": "y", "replace_all": True}
    found = asyncio.run(
        FileCalls(fake).edit_files(given("edit_files", {"edits": [first, other, first]}))
    )
    assert found.text == "Edited.\n-x"
    (body,) = fake.sent(EDIT)
    assert [(one["path"], len(one["edits"])) for one in body["files"]] == [("/a", 2), ("/b", 1)]
    assert body["files"][1]["edits"][0]["replace_all"] is True
    assert body["include_diff"] is True


def test_edits_may_be_json_in_a_text() -> None:
    fake = FakeDesktop({EDIT: {}})
    text = '[{"path": "/a", "old_text": "x", "new_text": "y"}]'
    assert (
        asyncio.run(FileCalls(fake).edit_files(given("edit_files", {"edits": text}))).content[
            "files"
        ]
        == []
    )


@pytest.mark.parametrize("edits", [None, [], "[", "3", [3], [{"old_text": "x"}]])
def test_other_edits_are_refused(edits: Any) -> None:
    with pytest.raises(BadField, match="edits"):
        asyncio.run(FileCalls(FakeDesktop()).edit_files(given("edit_files", {"edits": edits})))


def test_a_search_returns_lines_and_says_how_to_go_on() -> None:
    matches = [{"path": "/a", "line": 3, "text": "x"}, {"path": "/b"}]
    reply = {"matches": matches, "count": 2, "has_more": True, "next_offset": 2, "timed_out": True}
    fake = FakeDesktop({SEARCH: reply})
    arguments = {"path": "/", "pattern": "x", "glob": "*.py\n\n*.c", "limit": 1000}
    found = asyncio.run(FileCalls(fake).search_files(given("search_files", arguments)))
    assert found.content["content"] == "/a:3: x\n/b"
    assert "offset=2" in found.content["note"]
    assert "ended early" in found.content["note"]
    (body,) = fake.sent(SEARCH)
    assert (body["globs"], body["limit"]) == (["*.py", "*.c"], 200)


def test_a_search_needs_a_pattern_or_a_glob() -> None:
    fake = FakeDesktop({SEARCH: {"matches": [], "count": 0}})
    found = asyncio.run(
        FileCalls(fake).search_files(given("search_files", {"path": "/", "glob": "*.py"}))
    )
    assert "note" not in found.content
    with pytest.raises(McpError, match="pattern or glob"):
        asyncio.run(FileCalls(fake).search_files(given("search_files", {"path": "/"})))
