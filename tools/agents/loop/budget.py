"""Budget of one turn: limits of steps, minutes, tokens and money."""

from dataclasses import dataclass
from typing import Literal

from deskhand.tools.agents.providers.port import Usage

Spent = Literal["steps", "minutes", "tokens", "usd"]

DEFAULT_STEPS = 1200
"""Tool calls in one turn: a bound for loops that the stuck detector does not recognise."""


@dataclass(frozen=True)
class TurnBudget:
    """Limits of one turn; ``None`` is no limit."""

    steps: int | None = DEFAULT_STEPS
    minutes: float | None = None
    tokens: int | None = None
    usd: float | None = None
    """Cost of the model, as far as it is known: a model without prices ends no turn."""

    def spent(self, steps: int, seconds: float, usage: Usage) -> Spent | None:
        """Return the limit that has been reached, the first in the order of the fields."""
        if self.steps is not None and steps >= self.steps:
            return "steps"
        if self.minutes is not None and seconds >= self.minutes * 60:
            return "minutes"
        if self.tokens is not None and usage.total >= self.tokens:
            return "tokens"
        if self.usd is not None and (usage.cost_usd or 0.0) >= self.usd:
            return "usd"
        return None

    def message(self, spent: Spent) -> str:
        """Return the error message for a limit that was reached."""
        amount = getattr(self, spent)
        unit = "USD" if spent == "usd" else spent
        return f"Ended because the budget of {amount:g} {unit} is used up."
