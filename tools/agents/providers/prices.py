"""Prices of a model's tokens. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Prices:
    """USD for a million tokens of each kind."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    """Writing to the cache; the price of plain input where the provider charges no more for it."""


@dataclass(frozen=True)
class PriceList:
    """The prices of a model, which may differ for long prompts."""

    usual: Prices
    long: Prices | None = None
    """For all tokens of a request with more than ``long_from`` tokens of input, cached or not."""
    long_from: int | None = None

    def of_request(self, input_tokens: int) -> Prices:
        """Return the prices of a request with that many tokens of input, cached or not."""
        if self.long is None or self.long_from is None or input_tokens <= self.long_from:
            return self.usual
        return self.long
