import base64
import copy
import json
from typing import Any

import pytest

from deskhand.tools.agents.providers.compatible.wire import RESULT_PICTURES
from deskhand.tools.agents.scripted.compatible.protocol import read_request
from deskhand.tools.agents.scripted.script.picture_header import measure
from deskhand.tools.agents.scripted.script.request import InvalidRequest
from tests.tools.agents.loop.fakes import encoded, screen

Json = dict[str, Any]
DATA = encoded(screen())


def picture(data: bytes = DATA, kind: str = "image/png") -> Json:
    url = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def text(given: str) -> Json:
    return {"type": "text", "text": given}


def said(*parts: Json) -> Json:
    return {"role": "user", "content": [*parts]}


def calling(*calls: Json, content: str | None = None) -> Json:
    return {"role": "assistant", "content": content, "tool_calls": [*calls]}


def call(call_id: str = "a", name: str = "execute", arguments: object = None) -> Json:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": given}}


def result(call_id: str = "a", content: object = "Done.") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def tool(name: str = "execute", **changes: Any) -> Json:
    function = {"name": name, "description": "", "parameters": {"type": "object"}, **changes}
    return {"type": "function", "function": function}


GO = said(text("Go."))
SYSTEM = {"role": "system", "content": "Be good."}


def body(*messages: Json, **changes: Any) -> Json:
    data = {"model": "m", "messages": [*(messages or (GO,))], "stream": True, **changes}
    return copy.deepcopy(data)


def test_a_conversation_is_read() -> None:
    click = call("b", "computer", {"action": "left_click", "coordinate": [1, 2]})
    request = read_request(
        body(
            SYSTEM,
            GO,
            calling(call("a"), click, content="I click."),
            result("a"),
            result("b"),
            said(text(RESULT_PICTURES), picture(), text("And?")),
            tools=[tool(), tool("computer")],
            stream_options={"include_usage": True},
        ),
        measure,
    )
    assert (request.model, request.stream, request.computer) == ("m", True, True)
    assert request.tools == {"execute"}
    assert request.system == "Be good."
    assert [one.data for one in request.pictures] == [DATA]
    first, reply, answer = request.messages
    assert first == {"role": "user", "content": [text("Go.")]}
    assert [block["type"] for block in reply["content"]] == ["text", "tool_use", "tool_use"]
    kinds = [block["type"] for block in answer["content"]]
    assert kinds == ["tool_result", "tool_result", "image", "text"]
    assert answer["content"][0]["tool_use_id"] == "a"


def test_little_is_required() -> None:
    request = read_request({"model": "m", "messages": [GO]}, measure)
    assert (request.stream, request.computer, request.system) == (False, False, "")


def addressed(url: object) -> Json:
    return body(said({"type": "image_url", "image_url": {"url": url}}))


BAD: list[tuple[object, str]] = [
    (5, "request: must be an object"),
    (body(max_tokens=5), "max_tokens: is not a key"),
    (body(model=""), "model: must be a text"),
    (body(stream=1), "stream: must be true or false"),
    (body(stream=False, stream_options={"include_usage": True}), "is for a stream only"),
    (body(stream_options={"a": 1}), "a: is not a key"),
    (body(tools={}), "tools: must be a list"),
    (body(tools=[{"type": "computer"}]), "type: must be function"),
    (body(tools=[tool(strict=True)]), "strict: is not a key"),
    (body(tools=[tool("a b")]), "has characters not allowed"),
    (body(tools=[tool(), tool()]), "tool names must be unique"),
    (body(tools=[tool(parameters={"type": "a"})]), "parameters: must be object"),
    ({"model": "m", "messages": []}, "the last must be of the user"),
    (body({"role": "developer", "content": "a"}), "role: is not known"),
    (body(GO, SYSTEM), "must be the first"),
    (body(GO, {"role": "assistant", "content": "a", "reasoning_content": "b"}), "is not a key"),
    (body(GO, {"role": "assistant", "content": "a"}), "the last must be of the user"),
    (body(GO, {"role": "assistant", "content": ""}), "must be a text, or null"),
    (body(GO, {"role": "assistant", "content": None}), "must be a text, or null"),
    (body(GO, calling(call())), "the last calls have no results"),
    (body(GO, calling(call()), GO), "results must follow their calls"),
    (body(GO, result()), "results must follow their calls"),
    (body(GO, calling(call("a"), call("b")), result("b")), "the result of a is out of order"),
    (body(GO, calling(call(), call())), "ids must be unique"),
    (body(GO, calling(call(arguments="{"))), "is not JSON"),
    (body(GO, calling(call(arguments="[]"))), "must be an object"),
    (body(GO, calling(call(name="computer"))), "is no action of the computer"),
    (body(GO, calling(call()), result(content=[picture()])), "content: must be a text"),
    (body(said()), "must not be empty"),
    (body(said({"type": "file"})), "must be text or image_url"),
    (body(said({**text("a"), "cache_control": {}})), "cache_control: is not a key"),
    (addressed("http://a.test/a.png"), "must be a data address"),
    (addressed("data:image/png;base64,*"), "is not base64"),
    (body(said(picture(b"png"))), "is no picture"),
    (body(said(picture(kind="image/gif"))), "the type is not what it is"),
    (body(said(*[picture()] * 51)), "more than 50 pictures"),
]


@pytest.mark.parametrize(("data", "problem"), BAD)
def test_a_violation_of_the_protocol_is_refused(data: object, problem: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_request(data, measure)
    assert problem in str(caught.value)
