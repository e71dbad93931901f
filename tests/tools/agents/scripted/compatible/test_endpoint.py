from typing import Any

from deskhand.tools.agents.scripted.compatible.endpoint import CompletionsEndpoint
from deskhand.tools.agents.scripted.script.endpoint import Binding, Received
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import CacheEntries
from deskhand.tools.agents.scripted.script.request import Measured, Request, SeenPicture

ENDPOINT = CompletionsEndpoint()
HEADERS = {"authorization": "Bearer key", "content-type": "application/json"}
HEAD = Received("/v1/chat/completions", HEADERS, b"")
BODY: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Go."}]}],
}


def measured(data: bytes) -> Measured:
    return Measured("image/png", 1280, 720)


def test_the_key_and_the_type_are_in_the_head() -> None:
    assert ENDPOINT.key(HEAD) == "key"
    assert ENDPOINT.check_head(HEAD) is None
    assert ENDPOINT.check_head(Received("/", {}, b"")) == "content-type: must be application/json"


def test_a_reply_is_counted_and_written() -> None:
    request = ENDPOINT.read(HEAD, BODY, measured)
    assert ENDPOINT.binding(request) == Binding()
    counted = ENDPOINT.account(request, CacheEntries())
    assert counted.tokens is not None
    assert (counted.tokens.read, counted.tokens.written) == (0, 0)
    played = PlayedTurn(({"type": "text", "text": "Hi"},), "end_turn", 0)
    assert ENDPOINT.seal(counted, played) is played
    answer = ENDPOINT.answer(played, counted, "r", ())
    assert answer.whole["choices"][0]["message"]["content"] == "Hi"
    assert len(ENDPOINT.faulty("cut", answer.events)) < len(answer.events)


def test_pictures_count() -> None:
    seen = SeenPicture(b"", Measured("image/png", 1280, 720))
    request = Request("m", True, (), frozenset(), False, (seen,))
    tokens = ENDPOINT.account(request, CacheEntries()).tokens
    assert tokens is not None
    assert tokens.plain == 1229


def test_a_refusal_has_a_code() -> None:
    refusal = ENDPOINT.refusal("no_credit", "why")
    assert refusal.status == 429
    assert refusal.body["error"]["code"] == "insufficient_quota"
