"""Whatever the file routes refuse, over HTTP: status and sentence."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.desktop.files.rights import without_rights
from tests.desktop.processes.service import Service, running

Json = dict[str, Any]
QUERY = "Query parameters are invalid."
NOT_JSON = "Request body must be valid JSON."
READS = ("read-file", "read-file-lines", "resolve-path")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running() as service:
        yield service


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("one\ntwo\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


def get(service: Service, route: str, **params: object) -> httpx2.Response:
    return service.request("GET", f"/api/v0/{route}", params=params)


def post(service: Service, route: str, body: object = None, **params: object) -> httpx2.Response:
    content = {"content": body} if isinstance(body, bytes) else {"json": body}
    return service.request("POST", f"/api/v0/{route}", params=params, **content)


def refused(answer: httpx2.Response, status: int, *words: str) -> Json:
    body = dict(answer.json())
    assert answer.status_code == status, body
    assert all(word in body["message"] for word in words), body
    return body


def edits(path: object, old: str = "one", **more: object) -> Json:
    edit = {"old_text": old, "new_text": "new", **more}
    return {"files": [{"path": str(path), "edits": [edit]}]}


@pytest.mark.parametrize("route", READS)
@pytest.mark.parametrize(
    ("params", "field", "said"),
    [
        ({}, "path", "is required"),
        ({"path": ""}, "path", "is required"),
        ({"path": "/x", "wrong": "1"}, "wrong", "unknown query parameter"),
    ],
)
def test_a_query_names_the_field_that_is_wrong(
    service: Service, route: str, params: Json, field: str, said: str
) -> None:
    body = refused(get(service, route, **params), 400, QUERY)
    assert body["validations"][0]["field"] == field
    assert said in body["validations"][0]["detail"]


@pytest.mark.parametrize("route", ["read-file", "read-file-lines"])
@pytest.mark.parametrize("field", ["offset", "limit"])
@pytest.mark.parametrize(
    ("value", "said"), [("-1", "must not be negative"), ("x", "must be a whole number")]
)
def test_a_number_that_is_none(
    service: Service, route: str, field: str, value: str, said: str
) -> None:
    body = refused(get(service, route, path="/x", **{field: value}), 400, QUERY)
    assert body["validations"] == [{"field": field, "detail": said}]


def test_bytes_that_cannot_be_read(service: Service, place: Path) -> None:
    refused(get(service, "read-file", path="file"), 400, "must be absolute", "'file'")
    refused(get(service, "read-file", path="/x\0"), 400, "must not contain NUL")
    refused(get(service, "read-file", path=place / "absent"), 404, "no such file")
    refused(get(service, "read-file", path=place / "file" / "x"), 400, "not a directory")
    refused(get(service, "read-file", path=place / "folder"), 400, "is not a file")
    refused(get(service, "read-file", path=place / "loop"), 500, "oo many levels")
    refused(get(service, "read-file", path=f"/{'x' * 300}"), 400, "too long")


@pytest.mark.parametrize(
    ("path", "params", "words"),
    [
        ("file", {}, ("must be absolute",)),
        ("{place}/absent", {}, ("no such file",)),
        ("{place}/folder", {}, ("is not a file",)),
        ("{place}/file", {"max_file_size": 3}, ("8 bytes", "3")),
        ("{place}/file", {"offset": 9}, ("9", "2")),
        ("{place}/file", {"max_response_bytes": 3}, ("3",)),
        ("{place}/file", {"max_response_lines": 1, "limit": 2}, ("1",)),
    ],
)
def test_lines_that_cannot_be_read_are_told_in_the_answer(
    service: Service, place: Path, path: str, params: Json, words: tuple[str, ...]
) -> None:
    answer = get(service, "read-file-lines", path=path.format(place=place), **params)
    body = answer.json()
    assert (answer.status_code, body["success"], body["content"]) == (200, False, "")
    assert all(word in body["error"] for word in words), body["error"]


def test_what_cannot_be_written(service: Service, place: Path) -> None:
    refused(post(service, "write-file", b"x"), 400, QUERY)
    refused(post(service, "write-file", b"x", path="file"), 400, "must be absolute")
    refused(post(service, "write-file", b"x", path=place / "folder"), 400, "is a directory")
    refused(post(service, "write-file", b"x", path=place / "file/x"), 400, "not a directory")
    refused(post(service, "write-file", b"x", path=place / "loop"), 500, "oo many levels")
    assert sorted(path.name for path in place.iterdir()) == ["file", "folder", "loop"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", (NOT_JSON,)),
        ([], (NOT_JSON,)),
        ({}, ("at least one file",)),
        ({"files": 1}, (NOT_JSON,)),
        ({"files": [{"path": "{place}/file", "edits": []}]}, ("files[0]", "at least one edit")),
        ({"files": [{"path": "", "edits": [{}]}]}, ("files[0]", "is required")),
        (edits("file"), ("must be absolute",)),
        (edits("{place}/file", ""), ("edits[0]", "must not be empty")),
        (edits("{place}/file", "three"), ("edits[0]", "not found in file")),
        (edits("{place}/file", "o"), ("edits[0]", "2 occurrences", "exactly one", "replace_all")),
        (edits("{place}/folder"), ("is not a file",)),
    ],
)
def test_edits_that_cannot_be_made(
    service: Service, place: Path, body: Any, words: tuple[str, ...]
) -> None:
    if isinstance(body, dict) and isinstance(body.get("files"), list):
        files = [{**file, "path": file["path"].format(place=place)} for file in body["files"]]
        body = {"files": files}
    refused(post(service, "edit-files", body), 400, *words)
    assert (place / "file").read_text() == "one\ntwo\n"


def test_an_edit_of_a_file_that_is_not_there(service: Service, place: Path) -> None:
    refused(post(service, "edit-files", edits(place / "absent")), 404, "no such file")


def test_what_cannot_be_listed(service: Service, place: Path) -> None:
    refused(post(service, "list-directory", path="folder"), 400, "must be absolute")
    refused(post(service, "list-directory", path=place / "file"), 400, "is not a directory")
    refused(post(service, "list-directory", path=place / "absent"), 404, "no such file")
    refused(post(service, "list-directory", b"{"), 400, NOT_JSON)
    refused(post(service, "list-directory", {"path": "folder"}), 400, NOT_JSON)
    refused(post(service, "list-directory", {"path": [1]}), 400, NOT_JSON)
    unknown = {"path": [], "relativity": "moon"}
    refused(post(service, "list-directory", unknown), 400, "'moon'", "home or root")


def test_what_cannot_be_resolved(service: Service, place: Path) -> None:
    refused(get(service, "resolve-path", path="file"), 400, "must be absolute")
    refused(get(service, "resolve-path", path=place / "loop"), 500, "oo many levels")


def test_an_update_of_another_content(service: Service, place: Path) -> None:
    params = {"path": str(place / "file")}
    for header, status in (("no hash", 400), ('"sha256:00"', 412)):
        answer = service.request(
            "POST", "/api/v0/write-file", params=params, content=b"x", headers={"If-Match": header}
        )
        assert answer.status_code == status, answer.text
    assert (place / "file").read_text() == "one\ntwo\n"


def test_what_permissions_forbid_is_403_and_leaves_nothing_behind(place: Path) -> None:
    (place / "file").chmod(0)
    read_only = place / "read-only"
    read_only.write_text("one\n")
    read_only.chmod(0o444)
    inside = place / "folder" / "inside"
    inside.write_text("one\n")
    (place / "folder").chmod(0o500)
    (place / "closed").mkdir(mode=0)
    asked = [
        ("GET", "read-file", {"path": place / "file"}, None),
        ("POST", "edit-files", {}, edits(place / "file")),
        ("POST", "edit-files", {}, edits(inside)),
        ("POST", "edit-files", {}, edits(read_only)),
        ("POST", "write-file", {"path": read_only}, {}),
        ("POST", "write-file", {"path": inside}, {}),
        ("POST", "write-file", {"path": place / "folder" / "new"}, {}),
        ("POST", "write-file", {"path": place / "folder" / "deep" / "new"}, {}),
        ("POST", "list-directory", {"path": place / "closed"}, None),
        ("GET", "resolve-path", {"path": place / "closed" / "x"}, None),
        ("GET", "watch", {"path": place / "closed"}, None),
        ("GET", "read-file-lines", {"path": place / "file"}, None),
    ]
    answers = without_rights(
        [
            {
                "method": method,
                "path": f"/api/v0/{route}",
                "params": {name: str(value) for name, value in params.items()},
                "json": body,
            }
            for method, route, params, body in asked
        ]
    )
    (place / "folder").chmod(0o700)
    (place / "closed").chmod(0o700)
    *refusals, lines = answers
    for (_, route, params, _), answer in zip(asked, refusals, strict=False):
        assert answer["status"] == 403, (route, params, answer)
        assert "permission denied" in answer["body"]["message"].lower(), answer
    assert (lines["status"], lines["body"]["success"]) == (200, False)
    assert "permission denied" in lines["body"]["error"]
    assert [path.name for path in (place / "folder").iterdir()] == ["inside"]
    assert (inside.read_text(), read_only.read_text()) == ("one\n", "one\n")
    assert not [path.name for path in place.iterdir() if ".tmp." in path.name]


def test_a_search_leaves_out_what_permissions_hide(place: Path) -> None:
    (place / "listed").mkdir()
    (place / "listed" / "hidden").touch()
    # The names can be read, but the files cannot be examined.
    (place / "listed").chmod(0o444)
    asked = {"path": str(place), "glob": ["hidden", "file"]}
    request = {"method": "POST", "path": "/api/v0/search", "params": {}, "json": asked}
    (answer,) = without_rights([request])
    (place / "listed").chmod(0o700)
    assert [match["path"] for match in answer["body"]["matches"]] == [str(place / "file")]
