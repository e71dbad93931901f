from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.desktop.processes.service import LIMIT, Service, running

Json = dict[str, Any]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running() as service:
        yield service


def lines(service: Service, path: Path, **query: object) -> Json:
    params = {"path": str(path)} | {name: str(value) for name, value in query.items()}
    answer = service.request("GET", "/api/v0/read-file-lines", params=params)
    assert answer.status_code == 200
    return dict(answer.json())


def test_a_range_of_a_big_file_is_read(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "big"
    file.write_bytes(b"".join(b"%d\n" % number for number in range(1, 500_001)))
    answer = lines(service, file, offset=400_000, limit=2)
    assert answer["content"] == "400000\t400000\n400001\t400001"
    assert answer["total_lines"] == 500_000


def test_without_a_range_a_big_file_is_refused_and_the_text_says_to_page(
    service: Service, tmp_path: Path
) -> None:
    file = tmp_path / "big"
    file.write_bytes(b"x\n" * 600_000)
    assert "offset and limit" in lines(service, file)["error"]
    first = lines(service, file, partial="true")
    assert (first["lines_read"], first["next_line"]) == (2000, 2001)
    assert "continue at line 2001" in first["note"]


def test_what_does_not_fit_is_an_error_unless_a_part_is_wanted(
    service: Service, tmp_path: Path
) -> None:
    file = tmp_path / "f"
    file.write_text("y" * 999 + "\n" + "".join("z" * 999 + "\n" for _ in range(50)))
    assert "32768 bytes" in lines(service, file)["error"]
    answer = lines(service, file, partial="true")
    assert answer["success"]
    assert answer["next_line"] == answer["lines_read"] + 1


def test_an_offset_past_the_end_names_both_numbers(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("a\nb\n")
    error = lines(service, file, offset=9)["error"]
    assert "9" in error
    assert "2 lines" in error
    (tmp_path / "empty").touch()
    assert lines(service, tmp_path / "empty")["success"]


def test_a_tilde_is_the_home_of_the_agent(service: Service) -> None:
    home, f = service.home, service.home / "tilde" / "f"
    folder, file = "~/tilde", "~/tilde/f"

    def done(method: str, route: str, **options: Any) -> Any:
        answer = service.request(method, f"/api/v0/{route}", **options)
        assert answer.status_code == 200, answer.text
        return answer

    done("POST", "make-directory", params={"path": folder})
    done("POST", "write-file", params={"path": file}, content=b"one\n")
    done("POST", "append-file", params={"path": file}, content=b"two\n")
    assert f.read_text() == "one\ntwo\n"
    edits = [{"old_text": "two", "new_text": "three"}]
    done("POST", "edit-files", json={"files": [{"path": file, "edits": edits}]})
    assert done("GET", "read-file", params={"path": file}).text == "one\nthree\n"
    assert lines(service, Path(file))["content"] == "1\tone\n2\tthree"
    assert done("GET", "file-status", params={"path": file}).json()["kind"] == "file"
    listed = done("POST", "list-directory", params={"path": folder}, json={}).json()
    assert listed["absolute_path_string"] == str(f.parent)
    assert done("GET", "resolve-path", params={"path": "~"}).json()["resolved_path"] == str(
        home.resolve()
    )
    found = done("POST", "search", json={"path": folder, "pattern": "three"}).json()
    assert [match["path"] for match in found["matches"]] == [str(f)]
    done("POST", "remove-path", params={"path": folder, "recursive": "true"})
    assert not f.parent.exists()
    other = service.request("GET", "/api/v0/read-file", params={"path": "~root/f"})
    assert other.status_code == 400
    assert "must be absolute" in other.json()["message"]


def test_a_byte_order_mark_belongs_to_no_line(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    assert lines(service, path)["content"] == "1\tone\r\n2\ttwo"
    body: Json = {"path": str(tmp_path), "pattern": "^one$"}
    (match,) = service.request("POST", "/api/v0/search", json=body).json()["matches"]
    assert (match["line"], match["column"], match["text"]) == (1, 1, "one")
    edits = [{"old_text": "one\ntwo\n", "new_text": "one\nx\ntwo\n"}]
    body = {"files": [{"path": str(path), "edits": edits}], "include_diff": True}
    (edited,) = service.request("POST", "/api/v0/edit-files", json=body).json()["files"]
    assert "\ufeff" not in edited["diff"]
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\nx\r\ntwo\n"


def test_an_empty_file_has_no_end_to_be_past(service: Service, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    answer = lines(service, tmp_path / "empty", offset=9, limit=1)
    assert (answer["success"], answer["total_lines"], answer["content"]) == (True, 0, "")


def test_one_line_that_is_too_long_for_an_answer_is_an_error_too(
    service: Service, tmp_path: Path
) -> None:
    (tmp_path / "f").write_text("x" * 10)
    assert lines(service, tmp_path / "f", max_response_bytes=12)["success"] is True
    error = lines(service, tmp_path / "f", max_response_bytes=11)["error"]
    assert "exceed 11 bytes" in error
    part = lines(service, tmp_path / "f", max_response_bytes=11, partial="true")
    assert part["lines_read"] == 1


@pytest.mark.parametrize(
    ("name", "kind", "disposition"),
    [
        ("a.PNG", "image/png", "inline"),
        ("a.txt", "text/plain; charset=utf-8", "inline"),
        ("a.txt.gz", "application/gzip", "attachment"),
        ("a.txt.bz2", "application/octet-stream", "attachment"),
        ("data:text,x", "application/octet-stream", "attachment"),
        ("a?b#c.html", "text/html; charset=utf-8", "attachment"),
        ("none", "application/octet-stream", "attachment"),
    ],
)
def test_a_file_is_served_as_what_its_ending_says(
    service: Service, tmp_path: Path, name: str, kind: str, disposition: str
) -> None:
    (tmp_path / name).write_bytes(b"x")
    path = {"path": str(tmp_path / name)}
    answer = service.request("GET", "/api/v0/read-file", params=path)
    assert answer.headers["content-type"] == kind
    assert answer.headers["content-disposition"] == disposition


def test_a_binary_file_is_recognised(service: Service, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\x7fELF\0\0")
    assert "binary" in lines(service, tmp_path / "f")["error"]


def test_bytes_that_an_agent_wrote_are_not_run_by_a_browser(
    service: Service, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text("<script>")
    answer = service.request(
        "GET", "/api/v0/read-file", params={"path": str(tmp_path / "page.html")}
    )
    assert answer.headers["content-disposition"] == "attachment"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox")


def test_a_big_body_is_streamed_to_the_disk(service: Service, tmp_path: Path) -> None:
    body = bytes(range(256)) * 20_000
    answer = service.request(
        "POST", "/api/v0/write-file", params={"path": str(tmp_path / "f")}, content=body
    )
    assert answer.json()["bytes"] == len(body)
    assert (tmp_path / "f").read_bytes() == body


def test_edits_of_one_file_at_once_lose_none(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("".join(f"<{number}>\n" for number in range(30)))

    def edit(number: int) -> int:
        body = {"old_text": f"<{number}>", "new_text": f"[{number}]"}
        files = [{"path": str(file), "edits": [body]}]
        return service.request("POST", "/api/v0/edit-files", json={"files": files}).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(edit, range(30))) == {200}
    assert file.read_text() == "".join(f"[{number}]\n" for number in range(30))


def test_home_is_where_listings_begin(service: Service) -> None:
    (service.home / "folder").mkdir()
    answer = service.request("POST", "/api/v0/list-directory", json={"path": []})
    assert answer.json()["absolute_path_string"] == str(service.home)
    assert [entry["name"] for entry in answer.json()["contents"]] == ["folder"]


@pytest.mark.parametrize(
    ("path", "status"), [("relative", 400), ("/nonexistent/folder", 404), ("/etc/hostname", 400)]
)
def test_a_directory_that_is_none_is_told(service: Service, path: str, status: int) -> None:
    answer = service.request("POST", "/api/v0/list-directory", params={"path": path})
    assert answer.status_code == status
    assert answer.json()["message"]


def test_a_tree_is_searched(service: Service, tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("def needle():\n")
    body = {"path": str(tmp_path), "pattern": r"def \w+", "glob": "*.py"}
    answer = service.request("POST", "/api/v0/search", json=body)
    assert answer.json()["matches"] == [
        {"path": f"{tmp_path}/f.py", "line": 1, "column": 1, "text": "def needle():"}
    ]
    for wrong, status in (({"pattern": ""}, 400), ({"path": "x"}, 400), ({"path": "/no"}, 404)):
        body = {"path": str(tmp_path), "pattern": "x"} | wrong
        assert service.request("POST", "/api/v0/search", json=body).status_code == status
    invalid = service.request("POST", "/api/v0/search", json=body | {"path": "/", "pattern": "("})
    assert invalid.status_code == 400


def write(service: Service, path: Path, content: str, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return service.request(
        "POST", "/api/v0/write-file", params={"path": str(path)}, content=content, headers=named
    )


def test_an_update_that_would_be_lost_is_refused(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "f"
    made = write(service, file, "one", if_none_match="*")
    assert made.status_code == 200
    assert write(service, file, "again", if_none_match="*").status_code == 412
    etag = service.request("GET", "/api/v0/read-file", params={"path": str(file)}).headers["etag"]
    assert etag == f'"{made.json()["sha256"]}"'
    assert lines(service, file)["sha256"] == made.json()["sha256"]
    assert write(service, file, "two", if_match=etag).status_code == 200
    assert write(service, file, "three", if_match=etag).status_code == 412
    assert file.read_text() == "two"
    assert write(service, tmp_path / "absent", "x", if_match="*").status_code == 412
    assert not (tmp_path / "absent").exists()
    assert write(service, file, "x", if_match=",").status_code == 400


def test_changes_of_a_tree_are_streamed(service: Service, tmp_path: Path) -> None:
    params = {"path": str(tmp_path)}
    with service.client.stream("GET", "/api/v0/watch", params=params, timeout=LIMIT) as answer:
        text = answer.iter_lines()
        assert next(text) == "event: ready"
        (tmp_path / "f").touch()
        change = next(line for line in text if '"created"' in line)
        assert str(tmp_path / "f") in change
    for path, status in (("relative", 400), ("/no/such", 404)):
        answer = service.request("GET", "/api/v0/watch", params={"path": path})
        assert answer.status_code == status
