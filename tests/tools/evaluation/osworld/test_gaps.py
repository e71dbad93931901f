"""Typed access to OSWorld's JSON."""

import pytest

from deskhand.tools.evaluation.osworld.gaps import (
    BadOsworldTask,
    Gaps,
    items,
    local_file,
    text_of,
    texts_of,
)


def test_only_files_beside_the_task_are_local() -> None:
    assert local_file("a/b.csv") == "a/b.csv"
    assert local_file("file:///a/b%20c.csv") == "a/b c.csv"
    for address in ("", "https://x/a", "file://host/a", "/etc/passwd", "../a", "file:///../a"):
        assert local_file(address) is None, address


def test_one_text_stands_for_a_list() -> None:
    assert texts_of({"a": "b"}, "a", "x") == ("b",)
    assert texts_of({"a": ["b", "c"]}, "a", "x") == ("b", "c")
    assert texts_of({}, "a", "x") == ()
    with pytest.raises(BadOsworldTask, match=r"x\.a: must be a text or a list of texts"):
        texts_of({"a": [1]}, "a", "x")


def test_one_object_stands_for_a_list() -> None:
    assert items({"a": 1}, "x") == [{"a": 1}]
    with pytest.raises(BadOsworldTask, match="x 2: must be an object"):
        items([{}, 3], "x")


def test_values_have_types() -> None:
    assert text_of({"a": "b"}, "a", "x") == "b"
    with pytest.raises(BadOsworldTask, match=r"x\.a: must be a text"):
        text_of({"a": 1}, "a", "x")


def test_gaps_are_kept_in_order() -> None:
    gaps = Gaps()
    gaps.add("config 2", "a")
    gaps.add("evaluator", "b")
    assert gaps.found == ["config 2: a", "evaluator: b"]
