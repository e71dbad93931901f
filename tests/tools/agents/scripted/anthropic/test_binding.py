import copy
from typing import Any

from deskhand.tools.agents.scripted.anthropic.binding import mismatches, signed
from deskhand.tools.agents.scripted.anthropic.protocol import read_request
from deskhand.tools.agents.scripted.script.request import Measured, Request

Json = dict[str, Any]
MARK = {"type": "ephemeral"}


def read(body: Json) -> Request:
    return read_request(body, lambda _: Measured("image/png", 1, 1))


def thinking(signature: str = "") -> Json:
    return {"type": "thinking", "thinking": "Hm.", "signature": signature}


def say(text: str) -> Json:
    return {"type": "text", "text": text}


def grown(turns: int = 3) -> Json:
    """A request after some turns, each with two thinking blocks as the server signed them."""
    body: Json = {
        "model": "m",
        "max_tokens": 9,
        "system": [say("Be good.")],
        "tools": [{"name": "execute", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": [say("Go.")]}],
    }
    for turn in range(turns):
        reply = signed(read(body), (thinking(), say(f"Turn {turn}."), thinking(), say("End.")))
        body["messages"].append({"role": "assistant", "content": list(reply)})
        body["messages"].append({"role": "user", "content": [say(f"Go on after {turn}.")]})
    return body


def paths(body: Json) -> list[str]:
    return [one.path for one in mismatches(read(body))]


def test_blocks_that_come_back_after_their_prefix_are_accepted() -> None:
    assert paths(grown()) == []


def test_a_change_invalidates_the_blocks_after_it() -> None:
    body = grown()
    body["messages"][2]["content"][0]["text"] = "Something else."
    places = ["messages.3.content.0", "messages.3.content.2"]
    assert paths(body) == [*places, "messages.5.content.0", "messages.5.content.2"]
    assert mismatches(read(body))[0].to_json() == {
        "type": "thinking_dropped",
        "path": "messages.3.content.0",
        "reason": "prefix_binding_mismatch",
    }


def test_another_system_prompt_or_tool_invalidates_all_blocks() -> None:
    for change in ("system", "tools"):
        body = grown(1)
        if change == "system":
            body["system"] = [say("Be quick.")]
        else:
            body["tools"].append({"name": "type_secret", "input_schema": {"type": "object"}})
        assert len(paths(body)) == 2


def test_another_model_is_told_apart_from_another_prefix() -> None:
    body = grown(1)
    body["model"] = "other"
    assert {one.reason for one in mismatches(read(body))} == {"model_binding_mismatch"}


def test_cache_marks_may_move() -> None:
    body = grown()
    marked = copy.deepcopy(body)
    marked["system"][0]["cache_control"] = MARK
    marked["messages"][2]["content"][0]["cache_control"] = MARK
    assert paths(marked) == []
