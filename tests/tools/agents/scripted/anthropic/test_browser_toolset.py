"""The browser toolset in requests."""

from typing import Any

import pytest

from deskhand.desktop.pages.members import MEMBERS as OURS
from deskhand.tools.agents.scripted.anthropic.browser_toolset import (
    MEMBERS,
    TOOLSET,
    check_model,
    check_result,
    offered_members,
    without_states,
)
from deskhand.tools.agents.scripted.script.request import InvalidRequest

Json = dict[str, Any]
TAB = {"tab_id": "t1", "title": "", "url": "", "active": True}


def result(*states: Json, **fields: Any) -> Json:
    blocks = [{"type": "browser_state", **state} for state in states]
    return {"toolset_name": "browser", "content": blocks, **fields}


def test_the_members_are_those_that_desktops_have() -> None:
    assert frozenset(OURS) == MEMBERS


def test_models_with_an_older_computer_tool_do_not_have_it() -> None:
    check_model("claude-opus-5-5", "here")
    with pytest.raises(InvalidRequest, match="does not support"):
        check_model("claude-sonnet-4-5", "here")


def test_configs_enable_and_disable_members() -> None:
    usual = offered_members({"type": TOOLSET}, "here")
    assert usual == MEMBERS - {"file_upload", "javascript_exec"}
    configs = {"file_upload": {"enabled": True}, "find": {"enabled": False}, "zoom": {}}
    changed = offered_members({"type": TOOLSET, "configs": configs}, "here")
    assert changed == usual - {"find"} | {"file_upload"}


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "browser"},
        {"configs": []},
        {"configs": {"click": {}}},
        {"configs": {"find": 5}},
        {"configs": {"find": {"on": True}}},
        {"configs": {"find": {"enabled": "yes"}}},
    ],
)
def test_bad_entries_are_refused(entry: Json) -> None:
    with pytest.raises(InvalidRequest):
        offered_members({"type": TOOLSET, **entry}, "here")


@pytest.mark.parametrize(
    "good",
    [
        {"content": "text"},
        result(),
        result({"tabs": []}),
        result({"tabs": [TAB], "state_changes": [{"type": "tab_opened", "tab_id": "t1"}]}),
        result(
            {
                "tabs": [TAB],
                "state_changes": [
                    {"type": "download_completed", "download_id": "d", "url": "u", "size_bytes": 1}
                ],
            }
        ),
    ],
)
def test_good_states_pass(good: Json) -> None:
    check_result(good, "here")


@pytest.mark.parametrize(
    "bad",
    [
        result({"tabs": []}, toolset_name="computer"),
        result({"tabs": []}, is_error=True),
        result({"tabs": []}, {"tabs": []}),
        result({}),
        result({"tabs": [], "more": 1}),
        result({"tabs": ["t1"]}),
        result({"tabs": [{**TAB, "title": None}]}),
        result({"tabs": [{**TAB, "more": 1}]}),
        result({"tabs": [TAB, TAB]}),
        result({"tabs": [{**TAB, "active": False}]}),
        result({"tabs": [TAB], "state_changes": []}),
        result({"tabs": [TAB], "state_changes": ["x"]}),
        result({"tabs": [TAB], "state_changes": [{"type": "closed"}]}),
        result({"tabs": [TAB], "state_changes": [{"type": "tab_opened", "tab_id": "t9"}]}),
        result({"tabs": [TAB], "state_changes": [{"type": "tab_opened", "tab_id": "t1", "x": 1}]}),
        result({"tabs": [TAB], "state_changes": [{"type": "download_started", "url": "u"}]}),
    ],
)
def test_bad_states_are_refused(bad: Json) -> None:
    with pytest.raises(InvalidRequest):
        check_result(bad, "here")


def test_a_player_does_not_see_states() -> None:
    text = {"type": "text", "text": "a"}
    assert without_states({"content": [text, {"type": "browser_state"}]}) == {"content": [text]}
    assert without_states({"content": [{"type": "browser_state"}]}) == {"content": ""}
    assert without_states({"content": "a"}) == {"content": "a"}
