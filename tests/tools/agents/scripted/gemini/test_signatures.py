import base64
from dataclasses import replace
from typing import Any

from deskhand.tools.agents.scripted.gemini.signatures import SKIPPED, refusal, signed
from deskhand.tools.agents.scripted.script.request import Request

Json = dict[str, Any]
GO: Json = {"role": "user", "parts": [{"text": "Go."}]}
CALL: Json = {"functionCall": {"name": "click", "args": {"x": 1}}}
OTHER: Json = {"functionCall": {"name": "wait", "args": {}}}
THOUGHT: Json = {"text": "Hm.", "thought": True}


def request(*contents: Json, model: str = "m") -> Request:
    return Request(model, True, (), frozenset(), True, (), items=(GO, *contents))


def model(*parts: Json) -> Json:
    return {"role": "model", "parts": [*parts]}


def test_the_first_call_is_signed_and_comes_back() -> None:
    parts = signed(request(), [THOUGHT, {"text": "I click."}, CALL, OTHER])
    assert ["thoughtSignature" in part for part in parts] == [False, False, True, False]
    assert refusal(request(model(*parts))) is None
    again = signed(request(model(*parts), GO), [CALL])
    assert refusal(request(model(*parts), GO, model(*again))) is None


def test_both_alphabets_are_the_same() -> None:
    (part,) = signed(request(), [CALL])
    signature = base64.b64decode(part["thoughtSignature"])
    urlsafe = {**part, "thoughtSignature": base64.urlsafe_b64encode(signature).decode()}
    (then,) = signed(request(model(part), GO), [CALL])
    assert refusal(request(model(urlsafe), GO, model(then))) is None


def test_the_last_text_is_signed_without_a_call() -> None:
    parts = signed(request(), [THOUGHT, {"text": "a"}, {"text": "b"}])
    assert ["thoughtSignature" in part for part in parts] == [False, False, True]
    assert signed(request(), [THOUGHT]) == [THOUGHT]
    assert signed(request(), []) == []


def test_a_call_without_a_signature_is_refused() -> None:
    refused = refusal(request(model(CALL)))
    assert refused == "contents.1.parts.0: Function call `click` is missing a thought_signature."
    assert refusal(request(model(*signed(request(), [CALL]), OTHER))) is None


def test_a_signature_is_bound_to_the_model_and_to_what_precedes_it() -> None:
    (part,) = signed(request(), [CALL])
    corrupted = "contents.1.parts.0: Corrupted thought signature."
    assert refusal(request(model(part), model="other")) == corrupted
    changed = replace(request(model(part)), system="Be bad.")
    assert refusal(changed) == corrupted
    shifted = refusal(request(GO, model(part)))
    assert shifted == "contents.2.parts.0: Corrupted thought signature."


def test_a_call_that_the_model_did_not_make_may_say_so() -> None:
    part = {**CALL, "thoughtSignature": base64.b64encode(SKIPPED).decode()}
    assert refusal(request(model(part))) is None
