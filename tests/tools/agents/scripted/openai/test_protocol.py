from typing import Any

import pytest

from deskhand.tools.agents.scripted.openai.protocol import MOST_PICTURES, read_request
from deskhand.tools.agents.scripted.script.picture_header import measure
from deskhand.tools.agents.scripted.script.request import InvalidRequest, Request

from .bodies import (
    COMPUTER,
    COMPUTER_OUTPUT,
    FUNCTION,
    FUNCTION_OUTPUT,
    GO,
    PICTURE,
    REASONING,
    SAID,
    SHOT,
    TOOLS,
    body,
)

Json = dict[str, Any]
CHECK = {"id": "sc", "code": "malicious_instructions", "message": "Hm."}
CHECKED = {**COMPUTER, "pending_safety_checks": [CHECK]}


def read(*items: Json, **more: Any) -> Request:
    return read_request(body(*items, **more), measure)


def content(*blocks: Json) -> Json:
    return {"type": "message", "role": "user", "content": list(blocks)}


def text(words: str, **more: Any) -> Json:
    return {"type": "input_text", "text": words, **more}


def image(address: str = PICTURE) -> Json:
    return {"type": "input_image", "image_url": address}


def test_a_text_alone_is_a_message_of_the_user() -> None:
    request = read_request({"model": "m", "input": "Go."}, measure)
    assert request.messages == ({"role": "user", "content": [{"type": "text", "text": "Go."}]},)
    assert (request.stream, request.computer, request.explicit_cache) == (False, False, False)


def test_options_are_read() -> None:
    request = read(
        stream=True,
        instructions="Be good.",
        include=["reasoning.encrypted_content"],
        prompt_cache_options={"mode": "explicit"},
        reasoning={"effort": "low"},
        max_output_tokens=900,
    )
    assert (request.stream, request.system, request.explicit_cache) == (True, "Be good.", True)
    assert (request.tools, request.computer) == (frozenset({"execute"}), True)


def test_items_of_one_side_are_one_canonical_message() -> None:
    sealed = {**REASONING, "summary": [{"type": "summary_text", "text": "Hm."}]}
    calls = {**COMPUTER, "actions": [{"type": "wait"}, {"type": "screenshot"}]}
    words = content(
        text("Result of the computer call c:"), text("Waited."), image(), text("Done."), text("On.")
    )
    output = {**FUNCTION_OUTPUT, "output": [text("a"), image()]}
    request = read(GO, sealed, SAID, calls, FUNCTION, COMPUTER_OUTPUT, output, words)
    said, answers = request.messages[1:]
    assert [block["type"] for block in said["content"]] == [
        *("thinking", "text", "tool_use", "tool_use", "tool_use"),
    ]
    assert [b["id"] for b in said["content"][2:]] == ["c", "c.1", "f"]
    assert said["content"][2]["toolset_name"] == "computer"
    first, second, third, rest = answers["content"]
    assert [first["content"], second["content"]] == [
        [{"type": "text", "text": "Waited."}],
        [{"type": "text", "text": "Done."}],
    ]
    assert third["content"] == [{"type": "text", "text": "a"}, {"type": "image"}]
    assert rest == {"type": "text", "text": "On."}
    assert len(request.pictures) == 3


def test_an_older_call_has_one_action() -> None:
    call = {"type": "computer_call", "call_id": "c", "action": {"type": "wait"}}
    assert read(GO, call, COMPUTER_OUTPUT).messages[1]["content"][0]["name"] == "wait"


def test_a_compaction_and_other_roles_are_accepted() -> None:
    compaction = {"type": "compaction", "encrypted_content": "x"}
    system = {**GO, "role": "developer", "content": "Be good."}
    assert [m["role"] for m in read(system, compaction, GO).messages] == [
        *("user", "assistant", "user"),
    ]


def test_a_stored_conversation_needs_no_sealed_reasoning() -> None:
    unsealed = {key: value for key, value in REASONING.items() if key != "encrypted_content"}
    assert read(GO, unsealed, SAID, GO, store=True).messages[1]["content"][0]["signature"] == ""


def test_acknowledged_safety_checks_are_demanded() -> None:
    output = {**COMPUTER_OUTPUT, "acknowledged_safety_checks": [CHECK]}
    assert read(GO, CHECKED, output).messages


REFUSED: list[tuple[Json, str]] = [
    (body(extra=1), "request.extra: is not a key"),
    ({"input": "x"}, "request.model: must be a text"),
    (body(max_output_tokens=3), "max_output_tokens: "),
    (body(stream=1), "stream: must be true or false"),
    (body(include=["all"]), "include: "),
    (body(prompt_cache_options={"mode": "never"}), "prompt_cache_options.mode"),
    (body(prompt_cache_options={"size": 1}), "prompt_cache_options.size"),
    (body(reasoning={"effort": "huge"}), "reasoning.effort"),
    (body(reasoning={"budget": 1}), "reasoning.budget"),
    (body(tools=[{"type": "computer"}, {"type": "computer"}]), "twice"),
    (body(tools=[{"type": "computer", "display_width": 1}]), "display_width"),
    (body(tools=[{"type": "fly"}]), "no tool type"),
    (body(tools=[{**TOOLS[1], "name": "a b"}]), "characters not allowed"),
    (body(tools=[TOOLS[1], TOOLS[1]]), "must be unique"),
    (body(tools=[{**TOOLS[1], "parameters": {}}]), "must be object"),
    (body(tools=[{**TOOLS[1], "input_schema": {}}]), "input_schema"),
    (body(tools=5), "tools: must be a list"),
    ({"model": "m", "input": []}, "at least one item"),
    ({"model": "m", "input": [3]}, "must be an object"),
    (body({"type": "song"}), "no item type"),
    (body({**GO, "extra": 1}), "extra"),
    (body({**GO, "role": "singer"}), "must be one of"),
    (body({**GO, "content": []}), "must not be empty"),
    (body(content({"type": "input_file"})), "no content type"),
    (body(content(text(""))), "must be a text"),
    (body(content(text("a", prompt_cache_breakpoint={"mode": "x"}))), "must be explicit"),
    (body(content(text("a", prompt_cache_breakpoint={"size": 1}))), "size"),
    (body(content(image("http://x/"))), "no data address"),
    (body(content(image("data:image/png;base64,?"))), "not base64"),
    (body(content(image("data:image/png;base64,AAAA"))), "is no picture"),
    (body(content(image(PICTURE.replace("png", "jpeg", 1)))), "is not what it is"),
    (body(content(*[image()] * (MOST_PICTURES + 1))), "more than"),
    (body(GO, {**SAID, "content": [text("x")]}), "no part of a reply"),
    (body(GO, REASONING), "without its following item"),
    (body(GO, REASONING, GO), "without its following item"),
    (body(GO, {**REASONING, "encrypted_content": ""}, SAID, GO), "without encrypted_content"),
    (body(GO, FUNCTION), "No tool output found for f"),
    (body(GO, FUNCTION, GO), "No tool output found for f"),
    (body(GO, FUNCTION, COMPUTER, FUNCTION_OUTPUT, SAID), "No tool output found for c"),
    (body(GO, FUNCTION_OUTPUT), "no call f before it"),
    (body(GO, FUNCTION, {**COMPUTER_OUTPUT, "call_id": "f"}), "no call f before it"),
    (body(GO, FUNCTION, FUNCTION_OUTPUT, FUNCTION, FUNCTION_OUTPUT), "ids must be unique"),
    (body(GO, {**FUNCTION, "arguments": "{"}, FUNCTION_OUTPUT), "is not JSON"),
    (body(GO, COMPUTER, COMPUTER_OUTPUT, tools=[]), "no computer tool"),
    (body(GO, {**COMPUTER, "actions": []}, COMPUTER_OUTPUT), "must not be empty"),
    (body(GO, {**COMPUTER, "actions": [{"type": "fly"}]}, COMPUTER_OUTPUT), "no action we know"),
    (body(GO, {**COMPUTER, "actions": [{"type": "click", "x": 1}]}, COMPUTER_OUTPUT), "missing"),
    (body(GO, {**COMPUTER, "actions": [{"type": "wait", "ms": 1}]}, COMPUTER_OUTPUT), "ms"),
    (body(GO, COMPUTER, {**COMPUTER_OUTPUT, "output": "x"}), "must be an object"),
    (body(GO, COMPUTER, {**COMPUTER_OUTPUT, "output": {**SHOT, "detail": "low"}}), "detail"),
    (body(GO, COMPUTER, {**COMPUTER_OUTPUT, "output": {**SHOT, "type": "x"}}), "must be computer_"),
    (body(GO, CHECKED, COMPUTER_OUTPUT), r"the pending checks are \['sc'\]"),
    (
        body(GO, COMPUTER, {**COMPUTER_OUTPUT, "acknowledged_safety_checks": [CHECK]}),
        r"the pending checks are \[\]",
    ),
]


@pytest.mark.parametrize(("request_body", "problem"), REFUSED)
def test_a_violation_is_refused_with_its_place(request_body: Json, problem: str) -> None:
    with pytest.raises(InvalidRequest, match=problem):
        read_request(request_body, measure)
