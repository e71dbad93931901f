import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.files.requests import BadFileRequest
from deskhand.desktop.files.search_query import (
    Globs,
    Match,
    SearchRequest,
    glob_expression,
    ripgrep_arguments,
    ripgrep_match,
    search_request,
    shown,
)


def asked(**fields: Any) -> SearchRequest:
    return search_request(json.dumps({"path": "/src"} | fields).encode())


def test_a_search_needs_a_path_and_something_to_look_for() -> None:
    assert asked(pattern="x") == SearchRequest("/src", "x")
    assert asked(glob="*.py").globs == ("*.py",)
    assert asked(globs=["*.py", "!test_*"]).globs == ("*.py", "!test_*")
    request = asked(pattern="x", literal=True, ignore_case=True, offset=5, limit=7)
    assert request == SearchRequest("/src", "x", (), True, True, 5, 7)
    assert request.needed == 13


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"path": ""}, "path"),
        ({"path": 5}, "path"),
        ({}, "pattern"),
        ({"pattern": "a\0"}, "pattern"),
        ({"pattern": "x" * 4097}, "pattern"),
        ({"pattern": "x", "glob": 5}, "glob"),
        ({"pattern": "x", "glob": [""]}, "glob"),
        ({"pattern": "x", "glob": ["a"] * 33}, "glob"),
        ({"pattern": "x", "glob": "a\0"}, "glob[0]"),
        ({"pattern": "x", "ignorecase": True}, "ignorecase"),
        ({"pattern": "x", "glob": "a", "globs": ["b"]}, "globs"),
        ({"pattern": "x", "literal": 1}, "literal"),
        ({"pattern": "x", "limit": 0}, "limit"),
        ({"pattern": "x", "limit": 1001}, "limit"),
        ({"pattern": "x", "limit": True}, "limit"),
        ({"pattern": "x", "offset": -1}, "offset"),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(BadFileRequest) as caught:
        asked(**fields)
    assert field in caught.value.fields


def test_a_pattern_is_an_expression_unless_it_is_literal() -> None:
    assert SearchRequest("/", "a.c").expression().search("abc")
    assert not SearchRequest("/", "a.c", literal=True).expression().search("abc")
    assert SearchRequest("/", "ABC", ignore_case=True).expression().search("abc")
    with pytest.raises(BadFileRequest, match="invalid"):
        SearchRequest("/", "(").expression()


@pytest.mark.parametrize(
    ("glob", "fits", "fits_not"),
    [
        ("*.py", ["a.py", "x/y/a.py"], ["a.pyc", "py"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "y/src/a.py"]),
        ("/a", ["a", "a/b"], ["x/a"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py"]),
        ("**/doc", ["doc", "x/doc", "x/doc/y"], ["docs"]),
        ("src/**", ["src/a", "src/x/y"], ["source/a"]),
        ("build/", ["build/x", "x/build/y"], ["builder"]),
        ("a?c", ["abc"], ["ac", "a/c"]),
        ("[ab]c", ["ac", "bc"], ["cc"]),
        ("[!a]c", ["bc"], ["ac", "/c"]),
        ("*.{c,h}", ["x.c", "x.h"], ["x.o"]),
        ("a[", ["a["], ["a"]),
        ("a{b", ["a{b"], ["ab"]),
        ("[]]", ["]"], ["["]),
        ("[z-a]", ["[z-a]"], ["b"]),
        ("[!]", ["[!]"], ["a"]),
    ],
)
def test_globs_are_read_as_gitignore_reads_them(
    glob: str, fits: list[str], fits_not: list[str]
) -> None:
    expression = glob_expression(glob)
    assert [path for path in fits if not expression.fullmatch(path)] == []
    assert [path for path in fits_not if expression.fullmatch(path)] == []


def test_the_last_glob_that_fits_decides() -> None:
    globs = Globs(["*.py", "!test_*"])
    assert globs.want("x/a.py")
    assert not globs.want("x/test_a.py")
    assert not globs.want("a.c")
    assert Globs(["!*.py"]).want("a.c")
    assert Globs([]).want("a")


@given(st.text(min_size=1, max_size=20), st.text(max_size=20))
def test_every_text_is_a_glob(glob: str, path: str) -> None:
    Globs([glob]).want(path)


@given(st.text(alphabet="[]!^{},*?/\\-&~|#ab", min_size=1, max_size=12))
def test_every_odd_text_is_a_glob(glob: str) -> None:
    Globs([glob, f"[{glob}]"]).want("a/b")


def test_long_lines_are_cut() -> None:
    assert shown("short\r\n") == "short"
    assert shown("x" * 501) == "x" * 500 + " ... [truncated]"


def test_ripgrep_is_asked_in_its_words() -> None:
    files = ripgrep_arguments(SearchRequest("/x", globs=("*.py",)), "/base")
    assert files[-4:] == ["--files", "--null", "--", "/base"]
    assert "--glob=*.py" in files
    lines = ripgrep_arguments(SearchRequest("/x", "-e", literal=True, ignore_case=True), "/base")
    assert {"--fixed-strings", "--ignore-case", "--regexp=-e", "--json"} <= set(lines)
    assert lines[-2:] == ["--", "/base"]
    plain = ripgrep_arguments(SearchRequest("/x", "x"), "/base")
    assert not {"--fixed-strings", "--ignore-case"} & set(plain)


def message(kind: str, **data: Any) -> bytes:
    return json.dumps({"type": kind, "data": data}).encode()


def test_what_ripgrep_found_is_read() -> None:
    line = message(
        "match",
        path={"text": "/a"},
        lines={"text": "é wort\n"},
        line_number=3,
        submatches=[{"match": {"text": "wort"}, "start": 3, "end": 7}],
    )
    assert ripgrep_match(line) == Match("/a", 3, 3, "é wort")
    assert ripgrep_match(message("summary")) is None
    raw = b64encode(b"/\xff").decode()
    odd = message("match", path={"bytes": raw}, lines={"bytes": raw}, line_number=1, submatches=[])
    assert ripgrep_match(odd) == Match("/\ufffd", 1, 1, "/\ufffd")


def test_a_match_names_its_line_and_a_file_does_not() -> None:
    assert Match("/a").to_json() == {"path": "/a"}
    assert Match("/a", 1, 2, "t").to_json() == {"path": "/a", "line": 1, "column": 2, "text": "t"}
