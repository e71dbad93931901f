"""Budget of one turn: limits of steps, minutes and tokens."""

from dataclasses import dataclass
from typing import Literal

Spent = Literal["steps", "minutes", "tokens"]

DEFAULT_STEPS = 1200
"""Tool calls in one turn: a bound for loops that the stuck detector does not recognise."""


@dataclass(frozen=True)
class TurnBudget:
    """Limits of one turn; ``None`` is no limit."""

    steps: int | None = DEFAULT_STEPS
    minutes: float | None = None
    tokens: int | None = None

    def spent(self, steps: int, seconds: float, tokens: int) -> Spent | None:
        """Return the limit that has been reached, the first in the order of the fields."""
        if self.steps is not None and steps >= self.steps:
            return "steps"
        if self.minutes is not None and seconds >= self.minutes * 60:
            return "minutes"
        if self.tokens is not None and tokens >= self.tokens:
            return "tokens"
        return None

    def message(self, spent: Spent) -> str:
        """Return the error message for a limit that was reached."""
        amount = {"steps": self.steps, "minutes": self.minutes, "tokens": self.tokens}[spent]
        return f"Ended because the budget of {amount:g} {spent} is used up."
