import pytest

from deskhand.tools.agents.providers.model_table import UNKNOWN, model_facts


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


def test_an_unknown_model_is_not_sent_the_control() -> None:
    assert model_facts("house-model") == UNKNOWN
    assert not UNKNOWN.binding_controls
    assert model_facts("claude-opus-5-5").binding_controls
