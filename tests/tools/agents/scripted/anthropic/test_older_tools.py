"""Requests with an older computer tool, as strictly as the provider reads them."""

from typing import Any

import pytest

from deskhand.tools.agents.scripted.anthropic.older_tools import (
    is_older,
    with_toolset,
    without_toolset,
)
from deskhand.tools.agents.scripted.script.request import InvalidRequest

Json = dict[str, Any]

BETAS = frozenset({"computer-use-2025-01-24", "computer-use-2025-11-24"})
TOOL = {
    "type": "computer_20250124",
    "name": "computer",
    "display_width_px": 1280,
    "display_height_px": 720,
}
EXECUTE = {"name": "execute", "input_schema": {"type": "object"}}


def call(**given: Any) -> Json:
    return {"type": "tool_use", "id": "t1", "name": "computer", "input": given}


def body(*content: Json, model: str = "claude-sonnet-4-5", **tool: Any) -> Json:
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [*content]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}, "odd"]},
    ]
    return {"model": model, "tools": [{**TOOL, **tool}, EXECUTE], "messages": messages}


def test_tool_calls_and_results_become_those_of_the_toolset() -> None:
    mark = {"type": "ephemeral"}
    found = with_toolset(body(call(action="left_click", coordinate=[3, 4])), BETAS)
    assert found["tools"] == [{"type": "computer_toolset_20260801"}, EXECUTE]
    (sent,) = found["messages"][1]["content"]
    assert (sent["name"], sent["input"]) == ("left_click", {"coordinate": [3, 4]})
    assert sent["toolset_name"] == found["messages"][2]["content"][0]["toolset_name"] == "computer"
    marked = with_toolset(body(cache_control=mark), BETAS)
    assert marked["tools"][0]["cache_control"] == mark
    assert without_toolset([sent, {"type": "text", "text": "x"}]) == (
        call(action="left_click", coordinate=[3, 4]),
        {"type": "text", "text": "x"},
    )


def test_results_and_calls_of_other_tools_stay() -> None:
    other = {"type": "tool_use", "id": "t2", "name": "execute", "input": {}}
    found = with_toolset(body(other), BETAS)
    assert found["messages"][1]["content"] == [other]
    assert found["messages"][2]["content"][0] == {"type": "tool_result", "tool_use_id": "t1"}


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        (body(name="screen"), "tools.0.name"),
        (body(enable_zoom=True), "tools.0.enable_zoom"),
        (body(display_width_px=4000), "tools.0.display_width_px"),
        (body(display_height_px="720"), "tools.0.display_height_px"),
        (body(call(coordinate=[3, 4])), "messages.1.content.0.input.action"),
        (body({**call(action="wait"), "toolset_name": "computer"}), "toolset_name"),
        (body(model="claude-opus-5-5"), "claude-opus-5-5 does not support"),
        (body(model="claude-opus-4-5"), "does not support computer_20250124"),
        (body(type="computer_toolset_20260801"), "does not support computer_toolset"),
    ],
)
def test_what_the_provider_refuses_is_refused(wrong: Json, place: str) -> None:
    with pytest.raises(InvalidRequest, match=place):
        with_toolset(wrong, BETAS)


def test_the_tool_needs_its_beta() -> None:
    with pytest.raises(InvalidRequest, match="needs the beta computer-use-2025-01-24"):
        with_toolset(body(), frozenset())


def test_the_newer_of_them_may_zoom() -> None:
    newer = body(model="claude-opus-4-5", type="computer_20251124", enable_zoom=True)
    assert is_older(newer["tools"])
    assert not is_older(with_toolset(newer, BETAS)["tools"])


def test_a_body_without_such_a_tool_is_left_to_the_reader_of_the_protocol() -> None:
    for plain in ({}, {"tools": 3}, {"tools": [3]}, {"tools": [EXECUTE], "model": "m"}):
        assert with_toolset(plain, BETAS) is plain
    odd = {**body(), "messages": 3}
    assert with_toolset(odd, BETAS)["messages"] == 3
