from typing import Any

import pytest

from deskhand.tools.agents.scripted.gemini.endpoint import GenerateContentEndpoint
from deskhand.tools.agents.scripted.script.endpoint import Binding, Problem, Received
from deskhand.tools.agents.scripted.script.picture_header import measure
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import CacheEntries

ENDPOINT = GenerateContentEndpoint()
BODY: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "Go."}]}]}


def received(method: str, **parameters: str) -> Received:
    headers = {"x-goog-api-key": "key"}
    return Received(f"/v1/models/scripted:tour:{method}", headers, b"", parameters)


STREAM = received("streamGenerateContent", alt="sse")


def test_the_key_and_the_method_are_in_the_head() -> None:
    assert ENDPOINT.key(STREAM) == "key"
    assert ENDPOINT.key(Received("/", {}, b"")) == ""
    assert ENDPOINT.check_head(STREAM) is None
    assert ENDPOINT.check_head(received("generateContent")) is None
    assert ENDPOINT.check_head(received("countTokens")) == "there is no method countTokens"
    assert ENDPOINT.check_head(received("streamGenerateContent")) == "alt: must be sse"


@pytest.mark.parametrize(("head", "stream"), [(STREAM, True), (received("generateContent"), False)])
def test_the_model_is_in_the_path(head: Received, stream: bool) -> None:
    request = ENDPOINT.read(head, BODY, measure)
    assert (request.model, request.stream) == ("scripted:tour", stream)


def test_a_reply_is_signed_counted_and_written() -> None:
    request = ENDPOINT.account(ENDPOINT.read(STREAM, BODY, measure), CacheEntries())
    assert request.tokens is not None
    assert ENDPOINT.binding(request) == Binding()
    played = PlayedTurn(({"type": "text", "text": "Hi"},), "end_turn", 0)
    sealed = ENDPOINT.seal(request, played)
    answer = ENDPOINT.answer(sealed, request, "r", ())
    (part,) = answer.whole["candidates"][0]["content"]["parts"]
    assert part.keys() == {"text", "thoughtSignature"}
    assert len(answer.events) == 2
    assert ENDPOINT.faulty("cut", answer.events) == [answer.events[0]]


@pytest.mark.parametrize(
    ("problem", "code", "message"),
    [
        ("wrong_key", 400, "API key not valid. Please pass a valid API key."),
        ("invalid", 400, "why"),
        ("no_such_model", 404, "why"),
    ],
)
def test_a_refusal_has_the_form_of_the_provider(problem: Problem, code: int, message: str) -> None:
    refusal = ENDPOINT.refusal(problem, "why")
    assert refusal.status == code
    assert refusal.body["error"]["message"] == message
