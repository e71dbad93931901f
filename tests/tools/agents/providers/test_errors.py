from deskhand.tools.agents.providers.errors import (
    LimitReached,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelUnavailable,
)


def test_a_refusal_contains_advice() -> None:
    error = ModelRefused(401, "invalid key", "Check the API key.")
    assert str(error) == (
        "the model provider refused the request (401): invalid key. Check the API key."
    )
    assert str(ModelRefused(400, "bad")).endswith("(400): bad")


def test_an_overload_is_a_kind_of_being_unavailable() -> None:
    error = ModelOverloaded("slow down", 3)
    assert isinstance(error, ModelUnavailable)
    assert isinstance(error, ModelError)
    assert str(error) == "no reply from the model after 3 attempts: slow down"
    assert {ModelError.kind, ModelRefused.kind, ModelUnavailable.kind, error.kind} == {
        "model",
        "model_refused",
        "model_unavailable",
        "model_overloaded",
    }


def test_a_limit_is_named_with_its_value_if_it_is_known() -> None:
    assert str(LimitReached("images per request", 1600)) == (
        "the conversation has reached a limit of the model: 1,600 images per request."
        " Start a new chat to go on"
    )
    unknown = LimitReached("context window", None)
    assert "of the model: context window." in str(unknown)
    assert unknown.kind == "context_full"
