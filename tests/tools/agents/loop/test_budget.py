import pytest

from deskhand.tools.agents.loop.budget import TurnBudget


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (TurnBudget(), None),
        (TurnBudget(steps=None), None),
        (TurnBudget(steps=10), "steps"),
        (TurnBudget(steps=11, minutes=1, tokens=1000), "minutes"),
        (TurnBudget(steps=11, minutes=1.5, tokens=1000), "tokens"),
        (TurnBudget(steps=11, minutes=1.5, tokens=1001), None),
    ],
)
def test_the_first_limit_that_is_reached_counts(budget: TurnBudget, spent: str | None) -> None:
    assert budget.spent(steps=10, seconds=60.0, tokens=1000) == spent


def test_the_sentence_names_the_limit() -> None:
    assert "1.5 minutes" in TurnBudget(minutes=1.5).message("minutes")
