import base64
import copy
from collections.abc import Callable
from typing import Any

import pytest

from deskhand.tools.agents.scripted.anthropic.compaction import (
    COMPACTION_BETA,
    Summarized,
    sealed,
)
from deskhand.tools.agents.scripted.anthropic.protocol import read_request
from deskhand.tools.agents.scripted.script.request import InvalidRequest, Measured

Json = dict[str, Any]
PNG = base64.b64encode(b"1280x720").decode()
MARK = {"type": "ephemeral"}


def measure(data: bytes) -> Measured | None:
    """Pictures of these tests are their size in words."""
    width, cross, height = data.decode().partition("x")
    return Measured("image/png", int(width), int(height)) if cross else None


def image(data: str = PNG, media_type: str = "image/png") -> Json:
    source = {"type": "base64", "media_type": media_type, "data": data}
    return {"type": "image", "source": source}


def good() -> Json:
    """A request with a bit of everything."""
    return {
        "model": "demo",
        "max_tokens": 100,
        "stream": True,
        "system": [{"type": "text", "text": "Be good.", "cache_control": dict(MARK)}],
        "tools": [
            {"type": "computer_toolset_20260801", "configs": {"zoom": {"enabled": False}}},
            {"name": "execute", "description": "Runs.", "input_schema": {"type": "object"}},
        ],
        "messages": [
            {"role": "user", "content": "Do it."},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Yes."},
                    {
                        "type": "tool_use",
                        "id": "a",
                        "name": "screenshot",
                        "input": {},
                        "toolset_name": "computer",
                    },
                    {"type": "tool_use", "id": "b", "name": "execute", "input": {"x": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "a",
                        "toolset_name": "computer",
                        "content": [{"type": "text", "text": "Here."}, image()],
                    },
                    {
                        "type": "tool_result",
                        "tool_use_id": "b",
                        "content": "gone",
                        "is_error": True,
                        "cache_control": {"type": "ephemeral", "ttl": "1h"},
                    },
                    {"type": "text", "text": "Go on."},
                ],
            },
        ],
    }


def test_a_good_request_is_read() -> None:
    request = read_request(good(), measure)
    assert (request.model, request.stream, request.computer) == ("demo", True, True)
    assert request.tools == {"execute"}
    assert [p.measured for p in request.pictures] == [Measured("image/png", 1280, 720)]
    assert request.messages[0]["content"] == [{"type": "text", "text": "Do it."}]


def test_the_least_request_is_read() -> None:
    body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "x"}]}
    request = read_request(body, measure)
    assert (request.stream, request.computer, request.tools) == (False, False, frozenset())


def test_a_system_prompt_may_be_a_text_and_a_result_may_have_no_content() -> None:
    body = good()
    body["system"] = "Be good."
    del body["messages"][2]["content"][1]["content"]
    read_request(body, measure)


Change = Callable[[Json], object]


def put(*path: str | int, value: object) -> Change:
    def change(body: Json) -> None:
        at: Any = body
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    return change


def without(*path: str | int) -> Change:
    def change(body: Json) -> None:
        at: Any = body
        for key in path[:-1]:
            at = at[key]
        del at[path[-1]]

    return change


CALLS = ("messages", 1, "content")
RESULTS = ("messages", 2, "content")
CONTENT = (*RESULTS, 0, "content")


def swapped(body: Json) -> None:
    content = body["messages"][2]["content"]
    content[0], content[1] = content[1], content[0]


def text_first(body: Json) -> None:
    content = body["messages"][2]["content"]
    content.insert(0, content.pop())


def five_marks(body: Json) -> None:
    for block in body["messages"][2]["content"]:
        block["cache_control"] = dict(MARK)
    body["messages"][1]["content"][0]["cache_control"] = dict(MARK)


def many_pictures(body: Json) -> None:
    body["messages"][2]["content"][0]["content"] = [image() for _ in range(601)]


def open_call(body: Json) -> None:
    del body["messages"][2]


def second_result(body: Json) -> None:
    content = body["messages"][2]["content"]
    content.append(copy.deepcopy(content[1]))


def sized(width: int, height: int) -> str:
    return base64.b64encode(f"{width}x{height}".encode()).decode()


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (put("modle", value="x"), "request.modle"),
        (without("model"), "request.model"),
        (put("model", value=""), "request.model"),
        (without("max_tokens"), "max_tokens"),
        (put("max_tokens", value=0), "max_tokens"),
        (put("max_tokens", value=True), "max_tokens"),
        (put("stream", value="yes"), "stream"),
        (put("tools", value={}), "tools"),
        (put("tools", 0, "type", value="computer_20251124"), "tools.0.type"),
        (put("tools", 0, "display_width_px", value=1280), "tools.0.display_width_px"),
        (put("tools", 0, "name", value="computer"), "tools.0.name"),
        (put("tools", 0, "configs", "dance", value={}), "tools.0.configs.dance"),
        (put("tools", 0, "configs", "zoom", "on", value=1), "tools.0.configs.zoom.on"),
        (put("tools", 1, value={"type": "computer_toolset_20260801"}), "tools.1"),
        (put("tools", 1, "name", value="exe cute"), "tools.1.name"),
        (put("tools", 1, "input_schema", value={"type": "array"}), "tools.1.input_schema.type"),
        (without("tools", 1, "input_schema"), "tools.1.input_schema"),
        (put("tools", 1, "parameters", value={}), "tools.1.parameters"),
        (put("system", 0, "type", value="image"), "system.0.type"),
        (put("messages", value=[]), "messages"),
        (without("messages"), "messages"),
        (put("messages", 0, "role", value="assistant"), "messages.0.role"),
        (put("messages", 0, "role", value="system"), "messages.0.role"),
        (put("messages", 0, "name", value="x"), "messages.0.name"),
        (put("messages", 0, "content", value=[]), "messages.0.content"),
        (put("messages", 0, "content", value="  "), "messages.0.content.0"),
        (put("messages", 1, value={"role": "user", "content": "x"}), "messages.1.role"),
        (put(*CALLS, 0, "txet", value=""), "messages.1.content.0.txet"),
        (put(*CALLS, 0, value=image()), "messages.1.content.0.type"),
        (put(*CALLS, 1, "id", value="a b"), "messages.1.content.1.id"),
        (put(*CALLS, 2, "id", value="a"), "messages.1.content.2.id"),
        (put(*CALLS, 1, "name", value="dance"), "messages.1.content.1.name"),
        (put(*CALLS, 1, "input", value="{}"), "messages.1.content.1.input"),
        (put(*CALLS, 1, "toolset_name", value="browser"), "messages.1.content.1.toolset_name"),
        (without("tools", 0), "messages.1.content.1.toolset_name"),
        (open_call, "messages"),
        (swapped, "messages.2.content.0"),
        (text_first, "messages.2.content.0"),
        (second_result, "messages.2"),
        (without(*RESULTS, 1), "messages.2.content.1"),
        (put(*RESULTS, 0, "tool_use_id", value="z"), "messages.2.content.0"),
        (without(*RESULTS, 0, "tool_use_id"), "messages.2.content.0.tool_use_id"),
        (without(*RESULTS, 0, "toolset_name"), "messages.2.content.0.toolset_name"),
        (put(*RESULTS, 1, "toolset_name", value="computer"), "messages.2.content.1.toolset_name"),
        (put(*RESULTS, 0, "is_error", value=1), "messages.2.content.0.is_error"),
        (put(*RESULTS, 0, "is_error", value=True), "messages.2.content.0.content.1.type"),
        (put(*RESULTS, 0, "output", value="x"), "messages.2.content.0.output"),
        (
            put(*CONTENT, 1, "source", "type", value="url"),
            "messages.2.content.0.content.1.source.type",
        ),
        (
            put(*CONTENT, 1, "source", "data", value="@"),
            "messages.2.content.0.content.1.source.data",
        ),
        (
            put(*CONTENT, 1, "source", "data", value=base64.b64encode(b"bmp").decode()),
            "messages.2.content.0.content.1.source.data",
        ),
        (
            put(*CONTENT, 1, "source", "media_type", value="image/jpeg"),
            "messages.2.content.0.content.1.source.media_type",
        ),
        (put(*CONTENT, 1, value=image(sized(1569, 10))), "messages.2.content.0.content.1"),
        (put(*CONTENT, 1, value=image(sized(1500, 800))), "messages.2.content.0.content.1"),
        (put(*CONTENT, 1, value=image(sized(1920, 1080))), "messages.2.content.0.content.1"),
        (many_pictures, "messages.2.content.0.content.600"),
        (five_marks, "messages.2.content.2.cache_control"),
        (put("system", 0, "cache_control", "type", value="long"), "system.0.cache_control"),
        (put("system", 0, "cache_control", "for", value=1), "system.0.cache_control.for"),
    ],
)
def test_an_invalid_request_is_refused_with_the_path(change: Change, where: str) -> None:
    body = good()
    change(body)
    with pytest.raises(InvalidRequest) as caught:
        read_request(body, measure)
    assert caught.value.where == where
    assert str(caught.value).startswith(f"{where}: ")


def test_the_same_tool_twice_is_refused() -> None:
    body = good()
    body["tools"].append(copy.deepcopy(body["tools"][1]))
    with pytest.raises(InvalidRequest, match=r"tools\.2\.name"):
        read_request(body, measure)


@pytest.mark.parametrize("body", [None, [], "x", 3])
def test_what_is_no_object_is_refused(body: object) -> None:
    with pytest.raises(InvalidRequest, match="request: must be an object"):
        read_request(body, measure)


def test_thoughts_are_taken_with_their_seal_only() -> None:
    body = good()
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    hidden = {"type": "redacted_thinking", "data": "x"}
    body["messages"][1]["content"][:0] = [thought, hidden]
    read_request(body, measure)
    for broken in ({"signature": ""}, {"signature": "s", "cache_control": dict(MARK)}):
        body["messages"][1]["content"][0] = {**thought, **broken}
        with pytest.raises(InvalidRequest, match=r"messages\.1\.content\.0"):
            read_request(body, measure)


BETA = frozenset({"thinking-binding-controls-2026-08-01"})


@pytest.mark.parametrize(
    ("thinking", "drops"),
    [
        (None, False),
        ({"type": "adaptive"}, False),
        ({"type": "adaptive", "block_binding": {}}, False),
        ({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}, True),
    ],
)
def test_blocks_of_another_prefix_are_dropped_on_request(thinking: Json, drops: bool) -> None:
    request = read_request({**good(), "thinking": thinking}, measure, BETA)
    assert (request.drop_block, request.lists_dropped) == (drops, True)


def test_the_control_is_an_unknown_key_without_its_beta() -> None:
    body = {**good(), "thinking": {"type": "adaptive", "block_binding": {}}}
    with pytest.raises(InvalidRequest, match="block_binding: Extra inputs are not permitted"):
        read_request(body, measure)


def test_fields_of_a_beta_are_unknown_without_it() -> None:
    compaction = {"compaction": {"type": "summarize"}}
    with pytest.raises(InvalidRequest, match="compaction: Extra inputs are not permitted"):
        read_request({**good(), **compaction}, measure)
    request = read_request({**good(), **compaction}, measure, frozenset({COMPACTION_BETA}))
    assert request.summarize


def test_a_summary_stands_first_in_a_reply() -> None:
    block = sealed({"type": "compaction", "content": "All."}, Summarized("d", "user"))
    body = good()
    body["messages"][1]["content"].insert(0, block)
    betas = frozenset({COMPACTION_BETA})
    with pytest.raises(InvalidRequest, match="must be the first block"):
        read_request(body, measure, betas)
    del body["messages"][0]
    assert read_request(body, measure, betas).messages[0]["role"] == "assistant"
    del body["messages"][0]["content"][0]
    with pytest.raises(InvalidRequest, match="the first must be of the user"):
        read_request(body, measure, betas)


def test_thinking_is_shown_as_updates_with_its_beta_only() -> None:
    shown = {**good(), "thinking": {"type": "adaptive", "display": "updates"}}
    read_request(shown, measure, frozenset({"thinking-display-updates-2026-08-18"}))
    for display, problem in (("updates", "Extra inputs are not permitted"), ("all", "must be one")):
        shown["thinking"]["display"] = display
        with pytest.raises(InvalidRequest, match=rf"thinking\.display: {problem}"):
            read_request(shown, measure)


def test_an_effort_is_one_of_five() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Go."}]}
    assert read_request({**body, "output_config": {"effort": "low"}}, lambda _: None).messages
    with pytest.raises(InvalidRequest, match=r"output_config\.effort"):
        read_request({**body, "output_config": {"effort": "huge"}}, lambda _: None)


def browsing(name: str = "find", **fields: Any) -> Json:
    body = good()
    body["tools"].append({"type": "browser_toolset_20260801", **fields})
    used = {"type": "tool_use", "id": "z", "name": name, "input": {}, "toolset_name": "browser"}
    body["messages"][1]["content"].append(used)
    state = {"type": "browser_state", "tabs": []}
    result: Json = {"type": "tool_result", "tool_use_id": "z", "toolset_name": "browser"}
    result["content"] = [{"type": "text", "text": "Found."}, state]
    body["messages"][2]["content"].insert(2, result)
    return body


def test_the_browser_toolset_is_read() -> None:
    read_request(browsing(), measure)


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (browsing("click"), "no enabled member"),
        (browsing("javascript_exec"), "no enabled member"),
        (browsing(configs={"click": {}}), "is no member"),
        ({**browsing(), "model": "claude-sonnet-4-5"}, "does not support"),
        ({**browsing(), "tools": good()["tools"]}, "no such toolset"),
        ({**browsing(), "tools": 2 * [{"type": "browser_toolset_20260801"}]}, "there twice"),
    ],
)
def test_wrong_uses_of_the_browser_toolset_are_refused(body: Json, where: str) -> None:
    with pytest.raises(InvalidRequest, match=where):
        read_request(body, measure)
