import base64
from typing import Any

import pytest

from deskhand.tools.agents.providers.gemini.wire import (
    UNSIGNED,
    USUAL_SIZE,
    AwaitedResult,
    configuration,
    contents_of,
    screen_size,
    size,
)
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import (
    Block,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from deskhand.tools.kit.support.spec import ToolSpec

Json = dict[str, Any]
SIZE = (1280, 720)
SHOT = Image("f1", "image/png", 1000, 500)
ENCODED = base64.b64encode(b"png").decode()
CLICK: Json = {
    "functionCall": {"id": "c1", "name": "click", "args": {"x": 1, "y": 2}},
    "thoughtSignature": "QQ==",
}


def kept(part: Json, *calls: str) -> Thinking:
    return Thinking({"type": "gemini_part", "part": part} | ({"calls": [*calls]} if calls else {}))


def spec(name: str) -> ToolSpec:
    return ToolSpec(name, "Does it.", {"type": "object"})


def said(*blocks: Block) -> list[Json]:
    (content,) = contents_of(Message("assistant", blocks), {}, (), SIZE).contents
    assert content["role"] == "model"
    parts: list[Json] = content["parts"]
    return parts


def answered(
    *blocks: Block, awaited: tuple[AwaitedResult, ...] = (), **pictures: bytes
) -> list[list[Json]]:
    found = contents_of(Message("user", blocks), pictures, awaited, SIZE)
    assert {content["role"] for content in found.contents} <= {"user"}
    return [content["parts"] for content in found.contents]


def response(*results: ToolResult, calls: tuple[str, ...] = ("c1",), **pictures: bytes) -> Json:
    awaited = (AwaitedResult("c1", "click", calls),)
    ((part,),) = answered(*results, awaited=awaited, **pictures)
    found: Json = part["functionResponse"]
    return found


def test_an_effort_is_a_level_of_thinking() -> None:
    asked = configuration(Prompt("", (), (), False, "m"), effort="low")
    assert asked["thinking_config"] == {"include_thoughts": True, "thinking_level": "LOW"}


def test_the_configuration_offers_a_desktop_and_our_tools_apart() -> None:
    prompt = Prompt("Be good.", (), (spec("execute"), spec("wait")), True, "m", 99)
    assert configuration(prompt) == {
        "max_output_tokens": 99,
        "automatic_function_calling": {"disable": True},
        "thinking_config": {"include_thoughts": True},
        "system_instruction": "Be good.",
        "tools": [
            {
                "computer_use": {
                    "environment": "ENVIRONMENT_DESKTOP",
                    "excluded_predefined_functions": ["wait"],
                }
            },
            {
                "function_declarations": [
                    {
                        "name": name,
                        "description": "Does it.",
                        "parameters_json_schema": {"type": "object"},
                    }
                    for name in ("execute", "wait")
                ]
            },
        ],
    }


def test_an_older_model_is_offered_a_browser() -> None:
    prompt = Prompt(" ", (), (), True, "m")
    found = configuration(prompt, old=True)
    assert found["tools"] == [{"computer_use": {"environment": "ENVIRONMENT_BROWSER"}}]
    assert "system_instruction" not in found


def test_without_tools_none_are_sent() -> None:
    assert "tools" not in configuration(Prompt("", (), (), False, "m"))


def test_the_screen_has_the_size_of_the_newest_screenshot() -> None:
    shot = ToolResult("c1", (Text("Done."), SHOT), toolset="computer")
    other = ToolResult("c2", (Image("f2", "image/png", 5, 5),))
    attached = Image("f3", "image/png", 7, 7)
    assert screen_size([]) == USUAL_SIZE == SIZE
    assert screen_size([Message("user", (shot, other, attached))]) == (1000, 500)


def test_parts_of_the_model_go_back_as_they_came() -> None:
    thought = {"text": "Hm.", "thought": True, "thoughtSignature": "Qg=="}
    signed = {"text": "Done.", "thoughtSignature": "Qg=="}
    blocks = (
        kept(thought),
        Text("Plain."),
        kept(signed),
        Text("Done."),
        Text("Done."),
        Text(" "),
        Thinking({"type": "thinking", "signature": "of another provider"}),
        kept(CLICK, "c1"),
        ToolCall("c1", "left_click", {"coordinate": [1, 1]}, "computer"),
    )
    assert said(*blocks) == [thought, {"text": "Plain."}, signed, {"text": "Done."}, CLICK]


def test_a_second_call_of_one_id_has_no_result() -> None:
    blocks = (kept(CLICK, "c1"), ToolCall("c1", "left_click", {}, "computer"), kept(CLICK, "c1"))
    found = contents_of(Message("assistant", blocks), {}, (), SIZE)
    assert found.awaited == (
        AwaitedResult("c1", "click", ("c1",)),
        AwaitedResult("c1", "click", ()),
    )


def test_signatures_after_a_change_are_replaced_or_left_out() -> None:
    plain = {"functionCall": {"id": "c2", "name": "wait"}}
    calls = (ToolCall("c1", "left_click", {}, "computer"), ToolCall("c2", "wait", {}, "computer"))
    signed = kept({"text": "a", "thoughtSignature": "Qg=="})
    blocks = (signed, Text("a"), kept(CLICK, "c1"), kept(plain, "c2"), *calls)
    found = contents_of(Message("assistant", blocks), {}, (), SIZE, valid=False)
    clicked = {**CLICK, "thoughtSignature": UNSIGNED}
    assert found.contents[0]["parts"] == [{"text": "a"}, clicked, plain]


def test_a_function_whose_calls_were_cut_off_is_left_out() -> None:
    # A model makes no pictures.
    assert said(Text("I click."), SHOT, kept(CLICK, "c1")) == [{"text": "I click."}]


def test_calls_without_a_part_are_written_anew_and_the_first_needs_no_signature() -> None:
    click = ToolCall("c1", "left_click", {"coordinate": [640, 72]}, "computer")
    assert said(click, ToolCall("c2", "execute", {"command": "ls"})) == [
        {
            "functionCall": {"id": "c1", "name": "click", "args": {"x": 500, "y": 100}},
            "thoughtSignature": UNSIGNED,
        },
        {"functionCall": {"id": "c2", "name": "execute", "args": {"command": "ls"}}},
    ]


def test_the_next_message_learns_which_calls_it_answers() -> None:
    blocks = (kept(CLICK, "c1.1", "c1"), ToolCall("c1.1", "key", {}), ToolCall("c1", "type", {}))
    found = contents_of(Message("assistant", blocks), {}, (), SIZE)
    assert found.awaited == (AwaitedResult("c1", "click", ("c1.1", "c1")),)


def test_responses_are_in_the_order_of_the_calls_and_alone() -> None:
    awaited = (AwaitedResult("a", "click", ("a",)), AwaitedResult(None, "execute", ("b",)))
    blocks = (
        Text("Also."),
        ToolResult("b", (Text("2"),)),
        ToolResult("a", (Text("1"),)),
        Text(" "),
    )
    assert answered(*blocks, awaited=awaited) == [
        [
            {"functionResponse": {"id": "a", "name": "click", "response": {"output": "1"}}},
            {"functionResponse": {"name": "execute", "response": {"output": "2"}}},
        ],
        [{"text": "Also."}],
    ]


def test_the_results_of_one_function_are_one_response() -> None:
    first = ToolResult("c1.1", (Text("Pressed."),))
    second = ToolResult("c1", (Text("Typed."), SHOT), acknowledged=True)
    assert response(first, second, calls=("c1.1", "c1"), f1=b"png") == {
        "id": "c1",
        "name": "click",
        "response": {"output": ["Pressed.", "Typed."], "safety_acknowledgement": "true"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": ENCODED}}],
    }


def test_a_failure_is_an_error_of_the_whole_function() -> None:
    first = ToolResult("c1.1", (Text("Pressed."),))
    second = ToolResult("c1", (Text("It failed."),), is_error=True)
    found = response(first, second, calls=("c1.1", "c1"))
    assert found["response"] == {"error": "It failed."}


def test_a_missing_result_is_an_error() -> None:
    assert response()["response"] == {"error": "No result."}


def test_a_removed_picture_becomes_a_text() -> None:
    found = contents_of(Message("user", (SHOT,)), {}, (), SIZE)
    text = {"text": "[A picture that was removed: file f1]"}
    assert (found.contents[0]["parts"], found.missing, found.pictures) == ([text], True, 0)
    result = ToolResult("c1", (SHOT,))
    assert response(result)["response"] == {"output": text["text"]}
    assert "parts" not in response(result)


def test_pictures_and_bytes_are_counted() -> None:
    found = contents_of(Message("user", (SHOT, Text("ü"))), {"f1": b"png"}, (), SIZE)
    assert (found.pictures, found.missing) == (1, False)
    assert found.size == size(list(found.contents)) > len(ENCODED)


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_message_with_nothing_to_send_has_no_content(role: Any) -> None:
    assert contents_of(Message(role, (Text(" "),)), {}, (), SIZE).contents == ()
