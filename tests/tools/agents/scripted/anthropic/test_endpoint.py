import pytest

from deskhand.tools.agents.scripted.anthropic.endpoint import REFUSALS, MessagesEndpoint
from deskhand.tools.agents.scripted.script.endpoint import Received
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import CacheEntries
from deskhand.tools.agents.scripted.script.request import InvalidRequest, Request

ENDPOINT = MessagesEndpoint()
GO = {"role": "user", "content": "Go."}


def received(**headers: str) -> Received:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Received("/v1/messages", named, b"")


def request(*messages: object, **more: object) -> Request:
    body = {"model": "m", "max_tokens": 9, "messages": messages or (GO,), **more}
    betas = {"anthropic_beta": "compact-2026-09-04, thinking-binding-controls-2026-08-01"}
    body["messages"] = list(messages or (GO,))
    return ENDPOINT.read(received(**betas), body, lambda _: None)


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"x_api_key": "k", "authorization": "Bearer other"}, "k"),
        ({"authorization": "Bearer k"}, "k"),
        ({}, ""),
    ],
)
def test_the_key_stands_in_one_of_two_headers(headers: dict[str, str], key: str) -> None:
    assert ENDPOINT.key(received(**headers)) == key


def test_a_request_gets_its_tokens() -> None:
    tokens = ENDPOINT.account(request(), CacheEntries()).tokens
    assert tokens is not None
    assert tokens.total == 1


def test_the_version_is_demanded() -> None:
    assert ENDPOINT.check_head(received(anthropic_version="2023-06-01")) is None
    assert ENDPOINT.check_head(received()) == "anthropic-version: is missing"


def test_reasoning_of_another_prefix_is_refused_or_dropped() -> None:
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    turn = ENDPOINT.seal(request(), PlayedTurn((thinking,), "end_turn", 0))
    sealed = {"role": "assistant", "content": list(turn.content)}
    assert ENDPOINT.binding(request(GO, sealed, GO)).refusal is None
    moved = {"role": "user", "content": "Went."}
    assert "messages.1.content.0: Invalid signature" in str(
        ENDPOINT.binding(request(moved, sealed, GO)).refusal
    )
    drop = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    binding = ENDPOINT.binding(request(moved, sealed, GO, thinking=drop))
    assert binding.refusal is None
    assert [one["reason"] for one in binding.dropped] == ["prefix_binding_mismatch"]


def test_a_reply_is_written_in_both_forms() -> None:
    turn = PlayedTurn(({"type": "text", "text": "Hello."},), "end_turn", 0)
    answer = ENDPOINT.answer(turn, request(), "1", ())
    assert answer.whole["id"] == "msg_1"
    assert answer.events[0].startswith(b"event: message_start")
    assert ENDPOINT.faulty(None, answer.events) == list(answer.events)


@pytest.mark.parametrize("problem", REFUSALS)
def test_each_refusal_has_a_status_and_a_type(problem: str) -> None:
    refusal = ENDPOINT.refusal(problem, "why")  # type: ignore[arg-type]
    assert refusal.status >= 400
    assert refusal.body["type"] == "error"
    assert refusal.body["error"]["message"] == "why"


def test_a_model_with_an_older_computer_tool_is_answered_in_its_form() -> None:
    size = {"display_width_px": 1280, "display_height_px": 720}
    tool = {"type": "computer_20250124", "name": "computer", **size}
    body = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [GO], "tools": [tool]}
    beta = received(anthropic_beta="computer-use-2025-01-24")
    older = ENDPOINT.read(beta, body, lambda _: None)
    assert older.computer
    call = {"type": "tool_use", "id": "t", "name": "wait", "input": {"duration": 1}}
    turn = PlayedTurn(({**call, "toolset_name": "computer"},), "tool_use", 0)
    (sent,) = ENDPOINT.answer(turn, older, "1", ()).whole["content"]
    assert (sent["name"], sent["input"]) == ("computer", {"action": "wait", "duration": 1})


def test_a_body_that_is_no_object_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        ENDPOINT.read(received(), [], lambda _: None)
