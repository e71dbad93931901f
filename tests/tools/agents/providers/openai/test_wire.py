import json
from typing import Any

import pytest

from deskhand.tools.agents.providers.model_table import ModelFacts, model_facts
from deskhand.tools.agents.providers.openai.wire import (
    BLANK,
    SentMessage,
    compaction_body,
    encoded,
    reply_blocks,
    sent_message,
)
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import (
    Block,
    Compaction,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from deskhand.tools.kit.support.spec import ToolSpec

Json = dict[str, Any]
SHOT, OTHER = Image("f1", "image/png", 1, 1), Image("f2", "image/jpeg", 1, 1)
PICTURES = {"f1": b"one", "f2": b"two"}
ADDRESS, OTHER_ADDRESS = "data:image/png;base64,b25l", "data:image/jpeg;base64,dHdv"
MARK = {"prompt_cache_breakpoint": {"mode": "explicit"}}
FACTS = model_facts("gpt-6.2-sol")
REASONING: Json = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}
COMPUTER: Json = {
    "type": "computer_call",
    "id": "cu",
    "call_id": "c",
    "actions": [{"type": "wait"}, {"type": "screenshot"}],
    "pending_safety_checks": [],
}
FUNCTION: Json = {"type": "function_call", "id": "fc", "call_id": "f", "name": "execute"}
FUNCTION = {**FUNCTION, "arguments": '{ "command":"ls"}'}


def reply(*items: Json, without: tuple[str, ...] = ()) -> Message:
    blocks = [block for item in items for block in reply_blocks(item)]
    left = [b for b in blocks if not (isinstance(b, ToolCall) and b.id in without)]
    return Message("assistant", tuple(left))


def results(*blocks: Block) -> Message:
    return Message("user", blocks)


def sent(*messages: Message, marked: bool = False) -> list[Json]:
    parts: list[SentMessage] = []
    for message, after in zip(messages, [*messages[1:], None], strict=True):
        before = parts[-1] if parts else None
        parts.append(sent_message(message, PICTURES, before, after, marked=marked))
    prompt = Prompt("", messages, (), False, "gpt-6.2-sol")
    items: list[Json] = json.loads(encoded(prompt, parts, FACTS))["input"]
    return items


def message(*content: Json) -> Json:
    return {"type": "message", "role": "user", "content": list(content)}


def text(words: str) -> Json:
    return {"type": "input_text", "text": words}


def screenshot(address: str, **more: Any) -> Json:
    output = {"type": "computer_screenshot", "image_url": address}
    return {"type": "computer_call_output", "call_id": "c", "output": output, **more}


def test_a_request_asks_for_sealed_reasoning_and_stores_nothing() -> None:
    spec = ToolSpec("execute", "Runs.", {"type": "object"})
    prompt = Prompt("Be good.", (), (spec,), True, "openai:gpt-6.2-sol", 900, conversation="k1")
    assert json.loads(encoded(prompt, [], FACTS, "low")) == {
        "model": "gpt-6.2-sol",
        "max_output_tokens": 900,
        "store": False,
        "stream": True,
        "include": ["reasoning.encrypted_content"],
        "instructions": "Be good.",
        "tools": [
            {"type": "computer"},
            {
                "type": "function",
                "name": "execute",
                "description": "Runs.",
                "parameters": {"type": "object"},
                "strict": False,
            },
        ],
        "prompt_cache_key": "k1",
        "prompt_cache_options": {"mode": "explicit"},
        "reasoning": {"effort": "low"},
        "input": [],
    }


def test_a_request_of_an_older_model_without_tools_has_no_options() -> None:
    body = json.loads(encoded(Prompt("", (), (), False, "gpt-5.4"), [], model_facts("gpt-5.4")))
    assert set(body) == {"model", "max_output_tokens", "store", "stream", "include", "input"}


def test_items_go_back_as_they_came() -> None:
    said: Json = {"type": "message", "id": "m", "role": "assistant", "phase": "commentary"}
    said["content"] = [{"type": "output_text", "text": "Hi.", "annotations": []}]
    answers = (
        *(ToolResult("c-0", (Text("Waited."),), toolset="computer"),),
        *(ToolResult("c-1", (SHOT,), toolset="computer"), ToolResult("f", (Text("a"),))),
    )
    items = sent(
        results(Text("Go.")), reply(REASONING, said, COMPUTER, FUNCTION), results(*answers)
    )
    assert items[1:5] == [REASONING, said, COMPUTER, FUNCTION]


def test_a_batch_is_answered_by_its_last_picture_and_by_words_beside_it() -> None:
    answers = (
        ToolResult("c-0", (Text("Waited."), Text(" "), OTHER), toolset="computer"),
        ToolResult("c-1", (SHOT,), toolset="computer"),
    )
    assert sent(reply(COMPUTER), results(*answers))[1:] == [
        screenshot(ADDRESS),
        message(
            text("Result of the computer call c:"),
            text("Waited."),
            {"type": "input_image", "image_url": OTHER_ADDRESS},
            text("Done."),
        ),
    ]


def test_without_a_picture_the_newest_one_stands_in_its_place() -> None:
    answers = [ToolResult(f"c-{i}", (Text("Not run."),), toolset="computer") for i in range(2)]
    first = [ToolResult(f"c-{i}", (OTHER,), toolset="computer") for i in range(2)]
    assert sent(reply(COMPUTER), results(*answers))[1] == screenshot(BLANK)
    again = sent(reply(COMPUTER), results(*first), reply(COMPUTER), results(*answers))
    assert again[4] == screenshot(OTHER_ADDRESS)


def test_a_removed_picture_is_a_text_and_counts_as_missing() -> None:
    gone = Image("gone", "image/png", 1, 1)
    part = sent_message(results(Text("Go."), gone, SHOT), PICTURES, None, None, marked=False)
    assert (part.pictures, part.missing) == (2, 1)
    assert b"A picture that was removed: file gone" in part.data


def test_results_of_functions_are_lists_and_may_hold_pictures() -> None:
    answers = ToolResult("f", (Text("a"), SHOT)), Text("On."), Text(" ")
    assert sent(reply(FUNCTION), results(*answers))[1:] == [
        {
            "type": "function_call_output",
            "call_id": "f",
            "output": [text("a"), {"type": "input_image", "image_url": ADDRESS}],
        },
        message(text("On.")),
    ]
    empty = sent(reply(FUNCTION), results(ToolResult("f", ())))
    assert empty[1]["output"] == [text("(no output)")]


@pytest.mark.parametrize("acknowledged", [True, False])
def test_safety_checks_are_acknowledged_or_their_call_is_left_out(acknowledged: bool) -> None:
    checks = [{"id": "sc", "code": "malicious_instructions", "message": "Hm."}]
    call = {**COMPUTER, "pending_safety_checks": checks}
    answers = [
        ToolResult(f"c-{i}", (Text("x"), SHOT), toolset="computer", acknowledged=acknowledged)
        for i in range(2)
    ]
    items = sent(results(Text("Go.")), reply(REASONING, call), results(*answers))
    if acknowledged:
        assert items[1:4] == [
            REASONING,
            call,
            screenshot(ADDRESS, acknowledged_safety_checks=checks),
        ]
    else:
        # Reasoning without its item is refused.
        image = {"type": "input_image", "image_url": ADDRESS}
        assert items[1:] == [message(text("x"), image, text("x"), image)]


def test_a_call_that_was_dropped_takes_its_reasoning_with_it() -> None:
    cut = reply(REASONING, COMPUTER, REASONING, FUNCTION, without=("c-1",))
    assert sent(cut, results(ToolResult("f", (Text("a"),))))[:2] == [REASONING, FUNCTION]
    assert sent(reply(REASONING), results(Text("On."))) == [message(text("On."))]


def test_the_second_call_of_one_id_is_left_out() -> None:
    twice = reply(FUNCTION, FUNCTION)
    items = sent(twice, results(ToolResult("f", (Text("a"),))))
    assert [item["type"] for item in items] == ["function_call", "function_call_output"]


def test_blocks_of_another_provider_are_converted() -> None:
    other = Message(
        "assistant",
        (
            Thinking({"type": "thinking", "thinking": "x", "signature": "y"}),
            Text("Hi."),
            Text(" "),
            ToolCall("a", "left_click", {"coordinate": [1, 2]}, "computer"),
            ToolCall("b", "execute", {"command": "ls"}),
        ),
    )
    answers = (
        ToolResult("a", (Text("Clicked."),), toolset="computer"),
        ToolResult("b", (Text("x"),)),
    )
    items = sent(other, results(*answers))
    assert [item["type"] for item in items] == [
        *("message", "message", "function_call", "function_call_output", "message"),
    ]
    assert "left_click" in items[1]["content"][0]["text"]
    assert items[2]["arguments"] == '{"command": "ls"}'
    assert items[4] == message(text("Clicked."))


def test_every_message_of_ours_ends_with_a_cache_breakpoint() -> None:
    answers = ToolResult("f", (Text("a"), Text("b")))
    items = sent(results(Text("Go.")), reply(FUNCTION), results(answers), marked=True)
    assert items[0] == message({**text("Go."), **MARK})
    assert items[2]["output"] == [text("a"), {**text("b"), **MARK}]
    assert sent(results(Text(" ")), marked=True) == []


def test_blocks_of_a_reply_keep_its_items() -> None:
    assert reply_blocks({"type": "web_search_call"}) == ()
    assert reply_blocks(REASONING) == (Thinking(REASONING),)
    refused = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}, {}]}
    assert reply_blocks(refused) == (Thinking(refused), Text("No."))
    assert reply_blocks({"type": "message"}) == (Thinking({"type": "message"}),)
    assert reply_blocks(FUNCTION)[1] == ToolCall("f", "execute", {"command": "ls"})
    (_, wrong) = reply_blocks({**FUNCTION, "arguments": "[1]"})
    assert wrong == ToolCall("f", "execute", {"arguments": [1]})
    for arguments in ("null", "", None):
        (_, call) = reply_blocks({**FUNCTION, "arguments": arguments})
        assert call == ToolCall("f", "execute", {})
    with pytest.raises(ValueError, match="Expecting"):
        reply_blocks({**FUNCTION, "arguments": "{"})


def test_an_unmarked_model_has_its_own_tool() -> None:
    facts = ModelFacts("openai", computer="computer_use_preview")
    body = json.loads(encoded(Prompt("", (), (), True, "m"), [], facts))
    assert body["tools"] == [{"type": "computer_use_preview"}]


def test_items_of_a_compaction_go_back_first_and_as_they_came() -> None:
    item = {"type": "compaction", "id": "c", "encrypted_content": "x"}
    asked = {"type": "message", "role": "user", "content": "Go."}
    message = Message("assistant", (Compaction(asked), Compaction(item), Text("On.")))
    assert sent(message)[:2] == [asked, item]


@pytest.mark.parametrize("system", ["Be good.", " "])
def test_a_compaction_is_asked_for_without_tools(system: str) -> None:
    part = wire_part(Message("user", (Text("Go."),)))
    body = json.loads(compaction_body(Prompt(system, (), (), True, "gpt-6.2-sol"), [part]))
    assert set(body) == {"model", "input"} | ({"instructions"} if system.strip() else set())
    assert len(body["input"]) == 1


def wire_part(message: Message) -> SentMessage:
    return sent_message(message, {}, None, None, marked=False)
