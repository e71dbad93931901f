"""How much one turn may use."""

from dataclasses import dataclass
from typing import Literal

Spent = Literal["steps", "minutes", "tokens"]

DEFAULT_STEPS = 1200
"""Tool calls in one turn."""


@dataclass(frozen=True)
class TurnBudget:
    """Limits of one turn; ``None`` is no limit."""

    steps: int | None = DEFAULT_STEPS
    minutes: float | None = None
    tokens: int | None = None

    def spent(self, steps: int, seconds: float, tokens: int) -> Spent | None:
        """Which limit has been reached; the first in the order of the fields."""
        if self.steps is not None and steps >= self.steps:
            return "steps"
        if self.minutes is not None and seconds >= self.minutes * 60:
            return "minutes"
        if self.tokens is not None and tokens >= self.tokens:
            return "tokens"
        return None

    def says(self, spent: Spent) -> str:
        """A sentence on the limit that was reached."""
        amount = {"steps": self.steps, "minutes": self.minutes, "tokens": self.tokens}[spent]
        return f"Ended because the budget of {amount:g} {spent} is used up."
