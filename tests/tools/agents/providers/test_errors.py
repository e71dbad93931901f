import pytest

from deskhand.tools.agents.providers.errors import (
    CannotCompact,
    HostUnreachable,
    KeyRefused,
    LimitReached,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    NoCredit,
    NoSummary,
)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ModelRefused(400, "bad"), "the model provider refused the request (400): bad"),
        (ModelRefused(400, "bad", "Go."), "the model provider refused the request (400): bad. Go."),
        (
            KeyRefused("OpenAI", "OPENAI_API_KEY", 401),
            "OpenAI refused OPENAI_API_KEY (401): set a valid key and run the same command again",
        ),
        (
            NoCredit("OpenAI", "OPENAI_API_KEY"),
            "OpenAI accepted OPENAI_API_KEY, but the account has no credit: add credit, or choose"
            " another provider with --model",
        ),
        (
            HostUnreachable("api.openai.com", "no route", 3),
            "api.openai.com cannot be reached: check the network or HTTPS_PROXY; doctor shows"
            " which hosts answer",
        ),
        (NoSummary("x"), "no summary of the conversation: x"),
        (CannotCompact(), "no summary of the conversation: the provider makes none"),
        (ModelOverloaded("busy", 3), "no reply from the model after 3 attempts: busy"),
        (
            LimitReached("MB per request", 32),
            "the conversation has reached a limit of the model: 32 MB per request. Start a new"
            " chat to go on",
        ),
        (
            LimitReached("tokens of context window", None),
            "the conversation has reached a limit of the model: tokens of context window. Start a"
            " new chat to go on",
        ),
    ],
)
def test_each_error_is_a_sentence_that_advises(error: ModelError, sentence: str) -> None:
    assert str(error) == sentence
