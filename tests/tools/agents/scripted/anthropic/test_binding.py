import copy
from typing import Any

from deskhand.tools.agents.scripted.anthropic.binding import mismatches, signed
from deskhand.tools.agents.scripted.anthropic.protocol import read_request
from deskhand.tools.agents.scripted.script.request import Measured, Request

Json = dict[str, Any]
MARK = {"type": "ephemeral"}


def read(body: Json, betas: frozenset[str] = frozenset()) -> Request:
    return read_request(body, lambda _: Measured("image/png", 1, 1), betas)


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


def compacted(body: Json, kept: int) -> Json:
    """The request after a compaction of all but the newest messages."""
    asked = {**body, "messages": body["messages"][:-kept], "compaction": {"type": "summarize"}}
    block = {"type": "compaction", "content": "All of it.", "signature": ""}
    (sealed,) = signed(read(asked, COMPACTION), [block])
    first = {"role": "assistant", "content": [sealed]}
    return {**body, "messages": [first, *copy.deepcopy(body["messages"][-kept:])]}


COMPACTION = frozenset({"compact-2026-09-04"})


def joined(body: Json) -> Json:
    """The request as the provider joins it."""
    first, second, *others = body["messages"]
    content = [*first["content"], *second["content"]]
    return {**body, "messages": [{"role": "assistant", "content": content}, *others]}


def dropped(body: Json) -> list[str]:
    return [one.path for one in mismatches(read(body, COMPACTION))]


def test_thoughts_of_turns_kept_after_a_compaction_stay_valid() -> None:
    body = joined(compacted(grown(), 4))
    assert dropped(body) == []
    reply = signed(read(body, COMPACTION), (thinking(), say("On.")))
    body["messages"] += [
        {"role": "assistant", "content": list(reply)},
        {"role": "user", "content": [say("Good.")]},
    ]
    assert dropped(body) == []


def test_thoughts_after_a_compaction_are_bound_to_what_it_stands_for() -> None:
    changed = joined(compacted(grown(), 4))
    changed["messages"][1]["content"][0]["text"] = "Something else."
    assert len(dropped(changed)) == 2
    skipped = joined(compacted(grown(), 4))
    del skipped["messages"][0]["content"][2]
    assert len(dropped(skipped)) == 3
    other_tools = joined(compacted(grown(), 4))
    other_tools["tools"][0]["description"] = "New."
    assert len(dropped(other_tools)) == 4


def test_the_first_kept_message_must_be_of_the_other_role() -> None:
    body = grown(1)
    cut = {**body, "messages": copy.deepcopy(body["messages"])}
    kept = {"role": "assistant", "content": cut["messages"][1]["content"][2:]}
    del cut["messages"][1]["content"][2:]
    cut["messages"][2:] = [kept, body["messages"][2]]
    whole = copy.deepcopy(cut)
    del cut["messages"][2:]
    asked = {**cut, "compaction": {"type": "summarize"}}
    block = {"type": "compaction", "content": "All of it.", "signature": ""}
    (sealed,) = signed(read(asked, COMPACTION), [block])
    kept["content"].insert(0, sealed)
    assert len(dropped({**whole, "messages": [kept, body["messages"][2]]})) == 1
