import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.files.requests import BadFileRequest
from deskhand.desktop.files.search_engine import search
from deskhand.desktop.files.search_query import SearchRequest

Json = dict[str, Any]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a.py", "b.txt", "sub/c.py", "sub/.hidden/d.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("first\nneedle one\nlast needle\n")
    (tmp_path / "binary").write_bytes(b"\0needle")
    return tmp_path


def scanned(tree: Path, pattern: str = "", *globs: str, **more: Any) -> Json:
    seconds = more.pop("seconds", 10.0)
    request = SearchRequest(str(tree), pattern, globs, **more)
    return search(request, str(tree), seconds)


def names(tree: Path, answer: Json) -> list[str]:
    return [str(Path(match["path"]).relative_to(tree)) for match in answer["matches"]]


def test_lines_are_found_in_order_of_their_paths(tree: Path) -> None:
    answer = scanned(tree, "needle$")
    assert names(tree, answer) == ["a.py", "b.txt", "sub/.hidden/d.py", "sub/c.py"]
    first = answer["matches"][0]
    assert (first["line"], first["column"], first["text"]) == (3, 6, "last needle")


def test_files_are_found_by_globs_alone(tree: Path) -> None:
    assert names(tree, scanned(tree, "", "*.py", "!sub/c*")) == ["a.py", "sub/.hidden/d.py"]


def test_pages_join_to_the_whole(tree: Path) -> None:
    seen: list[Json] = []
    offset: int | None = 0
    while offset is not None:
        page = scanned(tree, "needle", offset=offset, limit=3)
        seen += page["matches"]
        offset = page.get("next_offset")
    assert seen == scanned(tree, "needle")["matches"]
    assert len(seen) == 8


def test_a_page_far_on_tells_what_is_there(tree: Path) -> None:
    last = scanned(tree, "needle", offset=7, limit=5)
    assert (names(tree, last), last["has_more"]) == (["sub/c.py"], False)
    beyond = scanned(tree, "needle", offset=999_999, limit=1)
    assert (beyond["matches"], beyond["count"], beyond["has_more"]) == ([], 0, False)


def test_what_git_ignores_is_left_out(tree: Path) -> None:
    (tree / ".gitignore").write_text("sub/\n")
    git = ["git", "-C", str(tree), "init", "-q"]
    assert len(scanned(tree, "needle")["matches"]) == 8
    subprocess.run(git, check=True)
    assert names(tree, scanned(tree, "needle one")) == ["a.py", "b.txt"]
    inner = tree / "sub"
    assert scanned(inner, "needle one")["matches"] == []
    below = scanned(tree.parent, "", f"{tree.name}/*.py")
    assert [Path(m["path"]).name for m in below["matches"]] == ["a.py"]


def test_one_file_can_be_searched(tree: Path) -> None:
    assert names(tree, scanned(tree / "a.py", "one")) == ["a.py"]


def test_links_are_not_followed_and_fifos_not_opened(tree: Path) -> None:
    (tree / "link.py").symlink_to("a.py")
    os.mkfifo(tree / "fifo.py")
    assert names(tree, scanned(tree, "one", "/*.py")) == ["a.py"]
    assert names(tree, scanned(tree, "", "/*.py")) == ["a.py"]


def test_a_name_that_is_no_utf_8_is_shown_all_the_same(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n"))).write_text("needle")
    (match,) = scanned(tmp_path, "needle")["matches"]
    assert match["path"].endswith("/\ufffd\n")


def test_an_expression_that_takes_for_ever_is_ended(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a" * 40 + "b")
    answer = scanned(tmp_path, r"(a|a)*c(a|a)*$", seconds=0.3)
    assert answer["timed_out"]


def test_a_pattern_that_is_none_is_refused(tree: Path) -> None:
    with pytest.raises(BadFileRequest):
        scanned(tree, "(")


def fake_ripgrep(folder: Path, script: str) -> str:
    (folder / "rg").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "rg").chmod(0o755)
    return str(folder / "rg")


def test_ripgrep_is_used_where_it_is_installed(tmp_path: Path) -> None:
    said = (
        '{"type":"begin","data":{}}\n{"type":"match","data":{"path":{"text":"/x/f"},'
        '"lines":{"text":"a needle"},"line_number":7,"submatches":[{"start":2}]}}'
    )
    program = fake_ripgrep(tmp_path, f"cat <<'EOF'\n{said}\nEOF")
    answer = search(SearchRequest("/named", "needle"), "/x", program=program)
    assert answer["engine"] == "ripgrep"
    assert answer["matches"] == [{"path": "/named/f", "line": 7, "column": 3, "text": "a needle"}]


def test_ripgrep_lists_files_and_is_ended_when_there_are_enough(tmp_path: Path) -> None:
    program = fake_ripgrep(tmp_path, "while :; do printf '/x/f\\0'; done")
    answer = search(SearchRequest("/x", globs=("*",), limit=2), "/x", program=program)
    assert answer["matches"] == [{"path": "/x/f"}] * 2
    assert answer["has_more"]


def test_what_ripgrep_says_of_a_pattern_is_passed_on(tmp_path: Path) -> None:
    program = fake_ripgrep(tmp_path, "echo 'regex parse error' >&2; exit 2")
    with pytest.raises(BadFileRequest) as caught:
        search(SearchRequest("/x", "("), "/x", program=program)
    assert "regex parse error" in caught.value.detail
