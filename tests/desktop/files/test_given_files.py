"""The given cases of the file API, against one real service."""

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from fastapi import FastAPI, HTTPException

from deskhand.desktop.files import api
from deskhand.desktop.files.editing.indentation import level_of, translated, unit_of
from deskhand.desktop.files.editing.line_endings import lines_of
from deskhand.desktop.files.editing.matching import PASSES, windows
from deskhand.vncbridge.http.add_routes import add_routes
from tests.desktop.agent_helper.threaded import agent_files
from tests.desktop.files.rights import without_rights
from tests.desktop.files.unprivileged import refused
from tests.desktop.processes.service import Service, running
from tests.given import CASES, assert_contains, assert_subset, expected, filled, named

Json = dict[str, Any]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running() as service:
        yield service


@pytest.fixture
def tmp() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="files-") as folder:
        yield Path(folder)


def setup_of(name: str, tmp: Path) -> Json:
    setup = CASES[name]["setup"]
    if "see" in setup:
        setup = CASES[setup["see"]]["setup"]
    return dict(filled(setup, {"tmp": str(tmp)}))


def request_of(name: str, tmp: Path) -> Json:
    request = CASES[name]["request"]
    if "same_as" in request:
        request = CASES[request["same_as"]]["request"]
    return dict(filled(request, {"tmp": str(tmp)}))


def prepare(setup: Json) -> None:
    for path in setup.get("dirs", []):
        Path(path).mkdir(exist_ok=True, parents=True)
    for path, content in setup.get("files", {}).items():
        Path(path).parent.mkdir(exist_ok=True, parents=True)
        Path(path).write_bytes(content.encode())
    for path, target in setup.get("symlinks", {}).items():
        Path(path).symlink_to(target)
    for path, mode in setup.get("modes", {}).items():
        Path(path).chmod(int(mode, 8))


def edits_body(request: Json) -> Json:
    files = [
        {"path": file["path"]}
        | {
            "edits": [
                {"old_text": e["old"], "new_text": e["new"], "replace_all": e.get("all", False)}
                for e in file.get("edits", [])
            ]
        }
        for file in request["files"]
    ]
    return {"files": files, "include_diff": request.get("include_diff", False)}


def send(service: Service, name: str, request: Json) -> httpx2.Response:
    area = CASES[name]["area"]
    route = request.get("route", "")
    query = {key: str(value) for key, value in request.get("query", {}).items()}
    if area.startswith("file.edit"):
        options: Json = {"json": request.get("raw_json")}
        if "files" in request:
            options = {"json": edits_body(request)}
        elif "raw_body" in request:
            options = {"content": request["raw_body"]}
        return service.request("POST", "/api/v0/edit-files", **options)
    if area == "file.write":
        return service.request("POST", route, params=query, content=request["raw_body"])
    if area == "file.list":
        body = listing_body(request)
        return service.request("POST", "/api/v0/list-directory", params=query, json=body)
    path = route or "/api/v0/resolve-path"
    return service.request(request.get("method", "GET"), path, params=query)


def listing_body(request: Json) -> Json:
    body = dict(request["body"])
    if "path" in body:
        body["path"] = body["path"].removeprefix("components of /").split("/")
    return body


def check_answer(answer: httpx2.Response, expect: Json) -> None:
    assert answer.status_code == expect.get("status", 200), answer.text
    if "raw_body" in expect:
        assert answer.content == expect["raw_body"].encode()
        assert answer.headers["content-type"] == expect["content_type"]
        assert int(answer.headers["content-length"]) == expect["content_length"]
        return
    check_body(answer.json(), expect)


def check_body(body: Json, expect: Json) -> None:
    assert_subset(body, expect.get("body", {}))
    assert_contains(body.get("message", ""), expect.get("message_contains", []))
    for word in expect.get("message_lacks", []):
        assert word not in body["message"]
    assert_contains(body.get("error", ""), expect.get("error_contains", []))
    wrong = {item["field"]: item["detail"] for item in body.get("validations", [])}
    if "validation_field" in expect:
        assert_contains(wrong[expect["validation_field"]], expect.get("validation_contains", []))
    if "absolute_path_string" in expect:
        assert body["absolute_path_string"] == expect["absolute_path_string"]
    for entry, wanted in zip(body.get("contents", []), expect.get("contents", []), strict=True):
        assert_subset(entry, wanted)
    for result, wanted in zip(body.get("files", []), expect.get("results", []), strict=True):
        assert_contains(result["diff"], wanted.get("diff_contains", []))
        if "diff" in wanted:
            assert result["diff"] == wanted["diff"]


def check_disk(expect: Json) -> None:
    for path, content in (expect.get("files", {}) | expect.get("file", {})).items():
        assert Path(path).read_bytes() == content.encode()
    for path, mode in expect.get("mode", {}).items():
        wanted = int(mode.split(" ")[0], 8)
        assert Path(path).stat().st_mode & 0o7777 == wanted & ~umask() if "&" in mode else wanted
    for path in expect.get("still_symlink", []):
        assert Path(path).is_symlink()
    for path, names in expect.get("dir_listing", {}).items():
        assert sorted(entry.name for entry in Path(path).iterdir()) == names


def umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


TRACKED = (
    "file.write/chat_headers_track_path_for_chat_and_ancestors",
    "file.write/no_chat_headers_track_nothing",
    "file.edit/failure_tracks_nothing",
)
PLAIN = [
    name
    for name in named(
        *("file.read", "file.read_lines", "file.write", "file.list", "file.resolve_path"),
        *("file.edit", "file.edit.better", "file.edit.collapse_keeps_next_line"),
        *("file.edit.diff", "file.edit.duplicates", "file.edit.end_to_end_whitespace"),
        *("file.edit.ending_normalization", "file.edit.hints", "file.edit.indent_translation"),
        *("file.edit.rejects", "file.edit.whitespace_endings", "file.edit.wire"),
    )
    if name not in ("file.write/failed_body_keeps_original", *TRACKED)
]
# A read case lists a forbidden file that it does not touch.
FORBIDDEN = [
    name
    for name in PLAIN
    if "permission denied" in str(expected(name)) or expected(name).get("status") == 403
]


@pytest.mark.parametrize("name", [name for name in PLAIN if name not in FORBIDDEN])
def test_a_given_case_of_the_file_api(name: str, service: Service, tmp: Path) -> None:
    setup, request = setup_of(name, tmp), request_of(name, tmp)
    if name == "file.write/no_temp_file_left":
        setup = {}  # its listing is of an empty folder plus the file
    prepare(setup)
    expect = filled(expected(name), {"tmp": str(tmp)})
    check_answer(send(service, name, request), expect)
    check_disk(expect)


@pytest.mark.parametrize("name", TRACKED)
def test_a_given_case_of_what_is_tracked(name: str, service: Service, tmp: Path) -> None:
    setup, request = setup_of(name, tmp), request_of(name, tmp)
    chats = {known: str(uuid4()) for known in ("A", "ANC")}
    headers = {}
    if setup["chat"]:
        ancestors = [chats[known] for known in setup.get("ancestors", [])]
        headers = {
            "Coder-Chat-Id": chats[setup["chat"]],
            "Coder-Ancestor-Chat-Ids": json.dumps(ancestors),
        }
    before = service.paths.chats
    service.client.headers.update(headers)
    answer = send(service, name, request)
    for header in headers:
        del service.client.headers[header]
    expect = filled(expected(name), {"tmp": str(tmp)})
    assert answer.status_code == expect["status"]
    for known, paths in expect.get("tracked_paths_for", {}).items():
        assert service.paths.paths(chats[known]) == paths
    if "tracked_chat_count" in expect:
        assert len(service.paths.chats - before) == expect["tracked_chat_count"]


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_given_case_of_what_is_forbidden(name: str, tmp: Path) -> None:
    setup, request = setup_of(name, tmp), request_of(name, tmp)
    prepare(setup)
    is_listing = CASES[name]["area"] == "file.list"
    for path in map(Path, setup["unreadable"]):
        path.mkdir() if is_listing else path.touch()
        path.chmod(0)
    asked = {
        "method": "POST",
        "path": "/api/v0/list-directory" if is_listing else "/api/v0/edit-files",
        "params": {},
        "json": listing_body(request) if is_listing else edits_body(request),
    }
    (answer,) = without_rights([asked])
    expect = filled(expected(name), {"tmp": str(tmp)})
    assert answer["status"] == expect["status"]
    check_body(answer["body"], expect)
    check_disk(expect)


def test_a_write_whose_body_breaks_off_keeps_the_original(tmp: Path) -> None:
    name = "file.write/failed_body_keeps_original"
    prepare(setup_of(name, tmp))
    request = request_of(name, tmp)
    expect = filled(expected(name), {"tmp": str(tmp)})

    async def body() -> AsyncIterator[bytes]:
        yield b"half of it"
        raise OSError(request["raw_body"]["fails_with"])

    async def scenario() -> httpx2.Response:
        app = FastAPI()
        app.add_exception_handler(HTTPException, refused)
        transport = httpx2.ASGITransport(app=app)
        async with (
            agent_files() as files,
            httpx2.AsyncClient(transport=transport, base_url="http://core") as client,
        ):
            add_routes(app, api.router(lambda: tmp, files))
            return await client.post(request["route"], params=request["query"], content=body())

    check_answer(asyncio.run(scenario()), expect)
    check_disk(expect)
    assert len(list(tmp.iterdir())) == 1


@pytest.mark.parametrize("name", named("file.edit.indent_unit"))
def test_a_given_case_of_the_unit_of_indentation(name: str) -> None:
    lines = [line for text in CASES[name]["request"]["lines"] for line in lines_of(text)]
    assert unit_of(lines) == expected(name)["unit"]


@pytest.mark.parametrize("name", named("file.edit.indent_level"))
def test_a_given_case_of_the_level_of_indentation(name: str) -> None:
    request = CASES[name]["request"]
    assert level_of(request["lead"], request["unit"]) == expected(name)["level"]


@pytest.mark.parametrize("name", named("file.edit.indent_translate"))
def test_a_given_case_of_translated_indentation(name: str) -> None:
    request = CASES[name]["request"]
    lead = translated(
        request["inserted_lead"],
        request["reference_search_lead"],
        request["reference_file_lead"],
        request["caller_unit"],
        request["file_unit"],
    )
    assert lead == expected(name)["lead"]


@pytest.mark.parametrize("name", named("idea.seek_sequence"))
def test_a_given_case_of_seeking_lines(name: str) -> None:
    request = CASES[name]["request"]
    lines = lines_of("\n".join(request["lines"]))
    pattern = lines_of("\n".join(request["pattern"]))
    found = next(places for key in PASSES if (places := windows(lines, pattern, key)))
    assert found == [expected(name)["index"]]
