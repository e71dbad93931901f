import base64
import copy
from typing import Any

import pytest

from deskhand.tools.agents.scripted.gemini.protocol import read_request
from deskhand.tools.agents.scripted.script.picture_header import measure
from deskhand.tools.agents.scripted.script.request import InvalidRequest, Request
from tests.tools.agents.loop.fakes import encoded, screen

Json = dict[str, Any]
DATA = encoded(screen())
PICTURE = {
    "inline_data": {"mime_type": "image/png", "data": base64.urlsafe_b64encode(DATA).decode()}
}
ASKED = {"decision": "require_confirmation"}


def call(call_id: str = "a", name: str = "click", **args: Any) -> Json:
    return {"functionCall": {"id": call_id, "name": name, "args": args}, "thoughtSignature": "QQ=="}


def response(call_id: str = "a", name: str = "click", *parts: Json, **answer: Any) -> Json:
    given = {"id": call_id, "name": name, "response": answer or {"output": "Done."}}
    return {"functionResponse": given | ({"parts": [*parts]} if parts else {})}


def content(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": [*parts]}


GO = content("user", {"text": "Go."})
CLICKED = content("model", {"text": "Hm.", "thought": True}, call(x=1, y=999, intent="Why"))


def body(*contents: Json, **changes: Any) -> Json:
    tools = [
        {"computerUse": {"environment": "ENVIRONMENT_DESKTOP"}},
        {
            "functionDeclarations": [
                {
                    "name": "execute",
                    "description": "Runs.",
                    "parameters_json_schema": {"type": "object"},
                }
            ]
        },
    ]
    return copy.deepcopy(
        {
            "contents": [*(contents or (GO,))],
            "systemInstruction": {"role": "user", "parts": [{"text": "Be good."}]},
            "tools": tools,
            "generationConfig": {
                "maxOutputTokens": 5,
                "thinkingConfig": {"include_thoughts": True},
            },
            **changes,
        }
    )


def read(data: object) -> Request:
    return read_request("tour", True, data, measure)


def test_a_request_is_read_in_both_styles() -> None:
    answer = response("a", "click", PICTURE, output=["One.", "Two."])
    request = read(body(GO, CLICKED, content("user", answer), content("user", {"text": "And?"})))
    assert (request.model, request.stream, request.computer) == ("tour", True, True)
    assert request.tools == {"execute"}
    assert [message["role"] for message in request.messages] == ["user", "assistant", "user"]
    result, text = request.messages[-1]["content"]
    assert (result["tool_use_id"], result["is_error"]) == ("a", False)
    assert [block["type"] for block in result["content"]] == ["text", "text", "image"]
    assert text == {"type": "text", "text": "And?"}
    assert [one.data for one in request.pictures] == [DATA]
    assert request.items[2]["parts"][0]["functionResponse"]["parts"][0].keys() == {"inlineData"}
    # Values of tools keep their names.
    assert request.offered[1]["functionDeclarations"][0].keys() >= {"parametersJsonSchema"}


def test_little_is_required() -> None:
    request = read({"contents": [GO]})
    assert (request.computer, request.tools, request.system) == (False, frozenset(), {})


def test_a_picture_of_the_user_and_a_signature_alone_are_read() -> None:
    sealed = content("model", {"text": "", "thoughtSignature": "QQ=="})
    request = read(body(content("user", PICTURE), sealed, GO))
    assert [m["content"][0]["type"] for m in request.messages] == ["image", "thinking", "text"]


@pytest.mark.parametrize(
    "answer", [{"error": "Refused."}, {"output": "Done.", "safety_acknowledgement": "true"}]
)
def test_a_call_that_needs_confirmation_may_be_answered(answer: Json) -> None:
    asking = content("model", call(safety_decision=ASKED))
    read(body(GO, asking, content("user", response("a", "click", **answer))))


def test_a_name_of_our_own_has_no_points() -> None:
    tool = {"name": "scroll", "description": "", "parametersJsonSchema": {"type": "object"}}
    excluding = {"environment": "ENVIRONMENT_DESKTOP", "excludedPredefinedFunctions": ["scroll"]}
    tools = [{"computerUse": excluding}, {"functionDeclarations": [tool]}]
    said = content("model", call("a", "scroll", x=5000))
    read(body(GO, said, content("user", response("a", "scroll")), tools=tools))


def tools(*given: object) -> Json:
    return body(tools=[*given])


def computer(**changes: Any) -> Json:
    return {"computerUse": {"environment": "ENVIRONMENT_DESKTOP", **changes}}


def declared(**changes: Any) -> Json:
    tool = {"name": "a", "description": "", "parametersJsonSchema": {"type": "object"}}
    return {"functionDeclarations": [tool | changes]}


def picture(**changes: Any) -> Json:
    return body(content("user", {"inlineData": {**PICTURE["inline_data"], **changes}}))


def answered(*parts: Json, said: Json = CLICKED) -> Json:
    return body(GO, said, content("user", *parts))


BAD: list[tuple[object, str]] = [
    ([], "request: must be an object"),
    (body(cached=True), "cached: is not a key"),
    (body(generationConfig=5), "generationConfig: must be an object"),
    (body(generationConfig={"top": 1}), "top: is not a key"),
    (body(generationConfig={"maxOutputTokens": True}), "maxOutputTokens: must be a whole number"),
    (body(systemInstruction={"parts": []}), "systemInstruction: must have texts"),
    (body(systemInstruction={"parts": [{"a": 1}]}), "systemInstruction: must have texts"),
    (body(tools=5), "tools: must be a list"),
    (tools({}), "tools.0: must have one kind"),
    (tools({"search": {}}), "search: is not a key"),
    (tools(computer(), computer()), "tools.1: the computer tool is there twice"),
    (tools(computer(size=5)), "size: is not a key"),
    (tools(computer(environment="X")), "environment: is not known"),
    (tools(computer(excludedPredefinedFunctions=["fly"])), "no predefined function 'fly'"),
    (tools(declared(parameters={})), "parameters: is not a key"),
    (tools(declared(name="")), "name: must be a text"),
    (tools(declared(name="a b")), "name: has characters"),
    (tools(declared(), declared()), "name: tool names must be unique"),
    (tools(declared(parametersJsonSchema=5)), "parametersJsonSchema: must be an object"),
    (tools(declared(parametersJsonSchema={"type": "a"})), "parametersJsonSchema: must be object"),
    (tools(computer(), declared(name="click")), r"\['click'\] are predefined and not excluded"),
    ({"contents": []}, "contents: at least one"),
    (body(content("assistant", {"text": "a"})), "role: must be user or model"),
    (body(content("user")), "parts: must not be empty"),
    (body({**GO, "id": 1}), "id: is not a key"),
    (body(content("model", {"text": "a"}), GO), "contents.0: must be of the user"),
    (body(GO, CLICKED), "the last must be of the user"),
    (body(GO, *[content("model", {"text": "a"})] * 2, GO), "contents.2: must be of the user"),
    (body(content("user", {})), "parts.0: must have one of"),
    (body(content("user", {"text": "a", "thought": True})), "thought: is not a key"),
    (body(content("user", {"text": ""})), "text must not be empty"),
    (body(GO, content("model", {"text": "a", "thoughtSignature": "*"}), GO), "is not base64"),
    (body(GO, content("model", call(x=1000)), GO), "args.x: must be a whole number from 0 to 999"),
    (body(GO, content("model", call(x=1.5)), GO), "args.x: must be a whole number"),
    (body(GO, content("model", {"functionCall": {"name": "a", "b": 1}}), GO), "b: is not a key"),
    (picture(data="*"), "is not base64"),
    (picture(data="QQ=="), "is no picture"),
    (picture(mime_type="image/gif"), "mimeType: is not what it is"),
    (picture(name="a"), "name: is not a key"),
    (body(GO, CLICKED, GO), "1 calls need as many responses"),
    (answered(response(), {"text": "a"}), "nothing else"),
    (body(content("user", response())), "0 calls need as many"),
    (answered(response("b")), "the response of a is missing or out of order"),
    (answered(response("a", "move")), "the response of a is missing or out of order"),
    (answered(response("a", "click", {"text": "a"})), "must have inlineData"),
    (answered({"functionResponse": {"name": "click", "response": 5}}), "must be an object"),
    (answered(response(safety_acknowledgement="true")), "was not asked for"),
    (answered(response(safety_acknowledgement=True)), 'must be "true"'),
    (
        answered(response(), said=content("model", call(safety_decision=ASKED))),
        "needs safety_acknowledgement",
    ),
]


@pytest.mark.parametrize(("data", "problem"), BAD)
def test_a_violation_of_the_protocol_is_refused(data: object, problem: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read(data)
    assert problem.replace("\\", "") in str(caught.value)


def thinking(**fields: Any) -> Json:
    return body(generationConfig={"thinkingConfig": fields})


def test_the_amount_of_thinking_is_a_level_or_a_budget() -> None:
    read(thinking(thinkingLevel="LOW", includeThoughts=True))
    read(thinking(thinkingBudget=1024))
    for wrong, problem in (
        ({"thinkingLevel": "low"}, "thinkingConfig.thinkingLevel: must be one of MINIMAL"),
        ({"thinkingLevel": "LOW", "thinkingBudget": 1}, "thinkingConfig: takes a level or"),
        ({"thinkingLevels": "LOW"}, "thinkingConfig.thinkingLevels: is not a key"),
    ):
        with pytest.raises(InvalidRequest, match=problem):
            read(thinking(**wrong))


def test_too_many_pictures_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="more than 3000 pictures"):
        read(body(content("user", *[PICTURE] * 3001)))
