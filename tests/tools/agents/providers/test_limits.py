import pytest

from deskhand.tools.agents.providers.errors import LimitReached
from deskhand.tools.agents.providers.limits import (
    LARGEST_REQUEST,
    check_request,
    limit_of_refusal,
    window_exceeded,
)
from deskhand.tools.agents.providers.model_table import UNKNOWN, ModelFacts

FACTS = ModelFacts(window_tokens=1_000_000, pictures=3)


def test_a_request_within_the_limits_is_accepted() -> None:
    check_request(FACTS, 3, LARGEST_REQUEST)


@pytest.mark.parametrize(
    ("pictures", "size", "text"),
    [(4, 1, "3 pictures per request"), (1, LARGEST_REQUEST + 1, "32 MB per request")],
)
def test_the_limit_that_a_request_exceeds_is_named_with_its_value(
    pictures: int, size: int, text: str
) -> None:
    with pytest.raises(LimitReached, match=text):
        check_request(FACTS, pictures, size)


@pytest.mark.parametrize(
    ("status", "message", "text"),
    [
        (413, "Request exceeds the maximum size", "32 MB per request"),
        (400, "prompt is too long: 200130 tokens > 200000 maximum", "200,000 tokens of context"),
        (400, "Prompt is too long", "1,000,000 tokens of context"),
        (400, "Too many images: 102 > 100", "100 pictures per request"),
    ],
)
def test_a_refusal_for_a_limit_names_it(status: int, message: str, text: str) -> None:
    reached = limit_of_refusal(status, message, FACTS)
    assert reached is not None
    assert text in str(reached)


@pytest.mark.parametrize(
    ("status", "message"),
    [(400, "image is no base64"), (404, "no such model"), (400, "max_tokens: 9 > 8")],
)
def test_other_refusals_are_no_limits(status: int, message: str) -> None:
    assert limit_of_refusal(status, message, FACTS) is None


def test_an_unknown_window_is_named_without_a_value() -> None:
    assert "model: tokens of context window." in str(window_exceeded(UNKNOWN))
