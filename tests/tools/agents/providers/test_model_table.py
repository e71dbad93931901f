import pytest

from deskhand.tools.agents.providers.model_table import TABLE, UNKNOWN, model_facts, sent_name
from deskhand.tools.agents.providers.prices import PriceList, Prices


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("claude-opus-5-5", True),
        ("claude-fable-5-1", True),
        ("claude-opus-5-5-20260901", True),
        ("claude-opus-5", False),
        ("claude-haiku-4-5", False),
        ("claude-sonnet-4-5-20250929", False),
        ("claude-opus-4-8-latest", False),
        ("claude-sonnet-4-6@20260101", False),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", False),
        ("scripted:tour", False),
        ("claude-opus-5-6", True),
        ("claude-opus-5-55", True),
        ("house model", True),
    ],
)
def test_a_model_counts_as_bound_unless_the_table_says_otherwise(name: str, bound: bool) -> None:
    assert model_facts(name).bound is bound


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("claude-opus-5-5-20260901", "claude-opus-5-5"),
        ("claude-opus-5-6", "claude-opus-5-"),
        ("claude-opus-7", "claude-"),
        ("claude-opus-5", "claude-opus-5"),
        ("gpt-5.4-2026-03-05", "gpt-5.4"),
        ("gpt-5.4-mini", "gpt-5.4-mini"),
        ("gpt-5.4-mini-2026-03-17", "gpt-5.4-mini"),
        ("gpt-5.45", "gpt-"),
        ("gpt-6.2-sol-preview", "gpt-6.2-sol"),
        ("openai:gpt-5.5", "gpt-5.5"),
        ("gemini-3.5-flash-001", "gemini-3.5-flash"),
        ("gemini-9", "gemini-"),
    ],
)
def test_an_id_has_the_facts_of_the_longest_entry_that_it_begins_with(
    name: str, entry: str
) -> None:
    assert model_facts(name) is TABLE[entry]


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("openai:house-model", "openai"),
        ("gemini:claude-opus-5-5", "gemini"),
        ("compatible:gpt-5.4", "compatible"),
        ("scripted:gpt-5.4", "scripted"),
        ("ollama:gpt-5.4", ""),
    ],
)
def test_a_provider_before_the_name_decides(name: str, provider: str) -> None:
    assert model_facts(name).provider == provider


def test_prices_of_long_prompts_are_those_of_the_whole_request() -> None:
    prices = model_facts("gpt-6.2-sol").prices
    assert prices is not None
    assert prices.of_request(272_000) == Prices(2, 10, 0.1, 2.5)
    assert prices.of_request(272_001) == Prices(4, 15, 0.2, 5)
    assert model_facts("gpt-5.4-mini").prices == PriceList(Prices(0.75, 4.5, 0.075, 0.75))


def test_an_unknown_model_is_not_sent_the_control() -> None:
    assert model_facts("house-model") == UNKNOWN
    assert not UNKNOWN.binding_controls
    assert model_facts("claude-opus-5-5").binding_controls


def test_a_provider_before_the_name_is_not_sent() -> None:
    assert sent_name("openai:gpt-5.4") == "gpt-5.4"
    assert sent_name("claude-opus-5-5") == "claude-opus-5-5"
    assert sent_name("scripted:tour") == "scripted:tour"
