import json
import re
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.files.editing.edits import Edit
from deskhand.desktop.files.lines import Bounds
from deskhand.desktop.files.requests import (
    BadFileRequest,
    EditRequest,
    FileEdits,
    LinesQuery,
    Query,
    directory_parts,
    edit_request,
    lines_query,
    object_of,
)


def test_a_query_of_lines_has_defaults() -> None:
    assert lines_query({"path": "/f"}) == LinesQuery("/f", 1, 0, False, False, 1_048_576, Bounds())


def test_all_of_a_query_of_lines_is_read() -> None:
    query = {"path": "/f", "offset": "3", "limit": "4", "partial": "true", "max_file_size": "5"}
    bounds = {"max_line_bytes": "6", "max_response_lines": "7", "max_response_bytes": "8"}
    wanted = LinesQuery("/f", 3, 4, True, True, 5, Bounds(6, 7, 8))
    assert lines_query(query | bounds) == wanted


def test_offset_zero_and_limit_zero_name_no_range() -> None:
    assert not lines_query({"path": "/f", "offset": "0", "limit": "0"}).ranged


@pytest.mark.parametrize(
    ("query", "field", "said"),
    [
        ({}, "path", "required"),
        ({"path": "/f", "offset": "-1"}, "offset", "negative"),
        ({"path": "/f", "limit": "x"}, "limit", "whole number"),
        ({"path": "/f", "limit": "1" * 30}, "limit", "whole number"),
        ({"path": "/f", "partial": "maybe"}, "partial", "true or false"),
        ({"path": "/f", "colour": "red"}, "colour", "unknown"),
    ],
)
def test_a_wrong_field_of_a_query_is_named(query: dict[str, str], field: str, said: str) -> None:
    with pytest.raises(BadFileRequest, match="Query parameters are invalid") as refused:
        lines_query(query)
    assert said in refused.value.fields[field]
    assert field in refused.value.detail


def test_a_query_without_faults_passes() -> None:
    query = Query({"path": "/f"}, ("path",))
    assert query.text("path") == "/f"
    query.check()


def edit(**fields: Any) -> dict[str, Any]:
    return {"files": [{"path": "/a", "edits": [fields]}]}


def test_edits_are_read_by_both_names() -> None:
    body = {
        "files": [
            {"path": "/a", "edits": [{"old_text": "x", "new_text": "y", "replace_all": True}]},
            {"path": "/b", "edits": [{"search": "x", "replace": ""}]},
            {},
        ],
        "include_diff": True,
    }
    assert edit_request(json.dumps(body).encode()) == EditRequest(
        (
            FileEdits("/a", (Edit("x", "y", True, "files[0].edits[0]"),), "files[0]"),
            FileEdits(
                "/b",
                (Edit("x", "", False, "files[1].edits[0]"),),
                "files[1]",
            ),
            FileEdits("", (), "files[2]"),
        ),
        include_diff=True,
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "at least one file"),
        ({"files": [{}] * 1001}, "At most 1000"),
        ({"files": {}}, "valid JSON"),
        ({"files": [1]}, "valid JSON"),
        ({"files": [{"edits": [1]}]}, "valid JSON"),
        ({"files": [{"path": 1}]}, "valid JSON"),
        ({"files": [{}], "include_diff": "yes"}, "valid JSON"),
        ({"file": [{}]}, 'Unknown field "file"'),
        (edit(old_text="x"), 'edits[0].new_text" is required'),
        (edit(old_text="x", new_text=None), 'edits[0].new_text" is required'),
        (edit(search="x", replace=None), 'edits[0].new_text" is required'),
        (edit(old_text="x", new_texts="y"), 'Unknown field "files[0].edits[0].new_texts"'),
    ],
)
def test_a_body_that_makes_no_sense_is_refused(body: Any, said: str) -> None:
    with pytest.raises(BadFileRequest, match=re.escape(said)):
        edit_request(json.dumps(body).encode())


@pytest.mark.parametrize("data", [b"{", b"[]", b'"\\ud800"', b"\xff", b"[" * 100_000])
def test_what_is_no_json_object_is_refused(data: bytes) -> None:
    with pytest.raises(BadFileRequest, match="valid JSON"):
        object_of(data)


def test_nothing_is_an_empty_object() -> None:
    assert object_of(b"") == {}


def test_a_directory_is_named_by_its_parts() -> None:
    assert directory_parts({"path": ["a", "b"], "relativity": "root"}) == (["a", "b"], "root")
    assert directory_parts({}) == ([], "home")
    assert directory_parts({"path": ["/a", "//b/c"]}) == (["a", "b/c"], "home")
    with pytest.raises(BadFileRequest, match="relativity"):
        directory_parts({"relativity": "moon"})
    with pytest.raises(BadFileRequest, match="valid JSON"):
        directory_parts({"path": [1]})
    with pytest.raises(BadFileRequest, match='Unknown field "paths"'):
        directory_parts({"paths": ["a"]})


def test_a_switch_may_be_on_unless_it_is_turned_off() -> None:
    assert Query({}, ()).flag("x", default=True)
    assert not Query({"x": "false"}, ("x",)).flag("x", default=True)


@pytest.mark.parametrize(
    ("given", "path"), [("/a", "/a"), ("~", "/home/a"), ("~/b", "/home/a/b"), ("~b", "~b")]
)
def test_a_path_of_a_query_may_begin_at_home(given: str, path: str) -> None:
    assert Query({"path": given}, ("path",)).path("path", Path("/home/a")) == path
