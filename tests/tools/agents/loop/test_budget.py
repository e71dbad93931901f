import pytest

from deskhand.tools.agents.loop.budget import TurnBudget
from deskhand.tools.agents.providers.port import Usage


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (TurnBudget(), None),
        (TurnBudget(steps=None), None),
        (TurnBudget(steps=10), "steps"),
        (TurnBudget(steps=11, minutes=1, tokens=1000), "minutes"),
        (TurnBudget(steps=11, minutes=1.5, tokens=1000), "tokens"),
        (TurnBudget(steps=11, minutes=1.5, tokens=1001), None),
        (TurnBudget(usd=0.5), "usd"),
        (TurnBudget(usd=0.51), None),
    ],
)
def test_the_first_limit_that_is_reached_counts(budget: TurnBudget, spent: str | None) -> None:
    usage = Usage(900, 100, cost_usd=0.5)
    assert budget.spent(steps=10, seconds=60.0, usage=usage) == spent


def test_a_cost_that_is_not_known_ends_nothing() -> None:
    usage = Usage(900, 100, cost_usd=None)
    assert TurnBudget(usd=0.01).spent(steps=1, seconds=1.0, usage=usage) is None


def test_the_sentence_names_the_limit() -> None:
    assert "1.5 minutes" in TurnBudget(minutes=1.5).message("minutes")
    assert "0.25 USD" in TurnBudget(usd=0.25).message("usd")
