"""Inputs of the members."""

from typing import Any

import pytest

from deskhand.desktop.pages.errors import BrowserCallFailed
from deskhand.desktop.pages.members import MEMBERS, PagePoint, PageRef, member_call

REF = {"type": "ref", "ref": "ref_7"}
POINT = {"type": "coordinate", "x": 10, "y": 20.5}


def test_there_are_31_members() -> None:
    assert len(MEMBERS) == 31


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"action": "list_tabs", "tab_id": None}, {}),
        ({"action": "left_click", "target": REF}, {"target": PageRef("ref_7")}),
        ({"action": "left_click", "target": {"ref": "r"}}, {"target": PageRef("r")}),
        ({"action": "hover", "target": POINT}, {"target": PagePoint(10, 20)}),
        (
            {"action": "left_click_drag", "from": POINT, "target": {"x": 1, "y": 2}},
            {"from": PagePoint(10, 20), "target": PagePoint(1, 2)},
        ),
        (
            {"action": "form_input", "target": REF, "value": 5},
            {"target": PageRef("ref_7"), "value": 5.0},
        ),
        (
            {"action": "form_input", "target": REF, "value": True},
            {"target": PageRef("ref_7"), "value": True},
        ),
        ({"action": "zoom", "region": [0, 0, 5, 5]}, {"region": (0, 0, 5, 5)}),
        ({"action": "key", "text": "a", "repeat": 2.0}, {"text": "a", "repeat": 2}),
        ({"action": "wait", "duration": 0.5}, {"duration": 0.5}),
        (
            {"action": "file_upload", "target": REF, "paths": ["a"], "document_ids": []},
            {"target": PageRef("ref_7"), "paths": ("a",), "document_ids": ()},
        ),
        ({"action": "read_page", "filter": "all", "depth": 3}, {"filter": "all", "depth": 3}),
    ],
)
def test_good_inputs_are_read(body: dict[str, Any], fields: dict[str, Any]) -> None:
    assert member_call(body).fields == fields


def test_a_call_may_name_a_tab() -> None:
    assert member_call({"action": "find", "query": "x", "tab_id": "t2"}).tab == "t2"
    assert member_call({"action": "find", "query": "x"}).tab is None


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "There is no browser action None"),
        ({"action": "left_clik"}, "did you mean 'left_click'"),
        ({"action": "zzzzzz"}, "there are navigate"),
        ({"action": "find"}, "find: query is required"),
        (
            {"action": "find", "query": "a", "tabid": "t"},
            "did you mean tab_id",
        ),
        ({"action": "find", "query": ""}, "query must be a text"),
        ({"action": "type", "text": "x" * 50_001}, "at most 50000"),
        ({"action": "left_click", "target": "ref_7"}, "target must be"),
        ({"action": "left_click", "target": {"type": "coordinate", "ref": "r"}}, "target must be"),
        ({"action": "scroll_to", "target": POINT}, "target must be an element"),
        ({"action": "mouse_move", "target": REF}, "target must be a point"),
        ({"action": "zoom", "region": [1, 2]}, "region must be"),
        ({"action": "zoom", "region": [5, 5, 5, 9]}, "region is empty"),
        ({"action": "wait", "duration": 31}, "from 0 to 30"),
        ({"action": "wait", "duration": True}, "must be a number"),
        ({"action": "read_page", "filter": "none"}, "must be one of all, interactive"),
        ({"action": "form_input", "target": REF, "value": []}, "value must be"),
        ({"action": "file_upload", "target": REF, "paths": []}, "paths must be"),
        (
            {"action": "file_upload", "target": REF, "paths": ["a"], "document_ids": ["d"]},
            "document_ids are not known",
        ),
    ],
)
def test_bad_inputs_are_refused_with_the_reason(body: dict[str, Any], problem: str) -> None:
    with pytest.raises(BrowserCallFailed, match=problem) as failed:
        member_call(body)
    assert failed.value.status == 400


def test_a_misspelt_action_is_named() -> None:
    with pytest.raises(BrowserCallFailed, match=r"unknown argument actions: did you mean action\?"):
        member_call({"actions": "find", "query": "x"})
