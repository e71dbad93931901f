from typing import Any

import pytest

from deskhand.tools.agents.scripted.openai.compaction import PATHS
from deskhand.tools.agents.scripted.openai.endpoint import REFUSALS, ResponsesEndpoint
from deskhand.tools.agents.scripted.script.endpoint import Received
from deskhand.tools.agents.scripted.script.picture_header import measure
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import CacheEntries
from deskhand.tools.agents.scripted.script.request import Request

from .bodies import GO, body

Json = dict[str, Any]
ENDPOINT = ResponsesEndpoint()


def received(**headers: str) -> Received:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Received("/v1/responses", named, b"")


def request(*items: Json) -> Request:
    return ENDPOINT.read(received(), body(*items), measure)


def test_the_head_has_a_token_and_says_json() -> None:
    assert ENDPOINT.key(received(authorization="Bearer k")) == "k"
    assert ENDPOINT.key(received()) == ""
    assert ENDPOINT.check_head(received(content_type="application/json")) is None
    assert ENDPOINT.check_head(received()) == "the body must be JSON"


def test_reasoning_comes_back_as_it_was_sealed() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": ""}
    text = {"type": "text", "text": "Hello."}
    turn = ENDPOINT.seal(request(), PlayedTurn((thinking, text, thinking, text), "end_turn", 0))
    answer = ENDPOINT.answer(turn, request(), "1", ())
    assert answer.whole["output"][0]["encrypted_content"]
    assert b"response.completed" in answer.events[-1]
    assert ENDPOINT.faulty(None, answer.events) == list(answer.events)
    again = request(GO, *answer.whole["output"], GO)
    assert ENDPOINT.binding(again).dropped == []
    changed = request({**GO, "content": "Went."}, *answer.whole["output"], GO)
    binding = ENDPOINT.binding(changed)
    assert (binding.refusal, len(binding.dropped)) == (None, 2)


def test_tokens_are_counted() -> None:
    tokens = ENDPOINT.account(request(), CacheEntries()).tokens
    assert tokens is not None
    assert tokens.total > 0


@pytest.mark.parametrize("problem", REFUSALS)
def test_each_refusal_has_a_status_and_a_code(problem: str) -> None:
    refusal = ENDPOINT.refusal(problem, "why")  # type: ignore[arg-type]
    assert refusal.status >= 400
    assert refusal.body["error"]["code"]
    assert refusal.body["error"]["message"] == "why"


def test_a_full_window_has_a_code_of_its_own() -> None:
    refusal = ENDPOINT.refusal("invalid", "context_length_exceeded: 9 tokens > 8 maximum")
    assert refusal.body["error"]["code"] == "context_length_exceeded"


ASKED = {"type": "message", "role": "user", "content": "Go."}
COMPACTED = PlayedTurn(
    ({"type": "compaction", "content": "All.", "signature": ""},), "compaction", 0
)


@pytest.mark.parametrize("path", PATHS)
def test_the_endpoint_answers_compactions_as_a_whole(path: str) -> None:
    endpoint = ResponsesEndpoint()
    body = {"model": "m", "input": [ASKED]}
    request = endpoint.read(Received(path, {}, b""), body, lambda _: None)
    assert endpoint.binding(request).dropped == ()
    assert endpoint.seal(request, COMPACTED) is COMPACTED
    answer = endpoint.answer(COMPACTED, request, "1", ())
    assert (answer.whole["output"][0], answer.events) == (ASKED, ())
