import pytest

from deskhand.tools.agents.loop.budget import Budget


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (Budget(), None),
        (Budget(steps=None), None),
        (Budget(steps=10), "steps"),
        (Budget(steps=11, minutes=1, tokens=1000), "minutes"),
        (Budget(steps=11, minutes=1.5, tokens=1000), "tokens"),
        (Budget(steps=11, minutes=1.5, tokens=1001), None),
    ],
)
def test_the_first_limit_that_is_reached_counts(budget: Budget, spent: str | None) -> None:
    assert budget.spent(steps=10, seconds=60.0, tokens=1000) == spent


def test_the_sentence_names_the_limit() -> None:
    assert "1.5 minutes" in Budget(minutes=1.5).says("minutes")
