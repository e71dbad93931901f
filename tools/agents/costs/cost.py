"""The price of the tokens of one request. Pure."""

from dataclasses import replace

from deskhand.tools.agents.providers.port import Usage
from deskhand.tools.agents.providers.prices import PriceList

MILLION = 1_000_000


def priced(usage: Usage, prices: PriceList | None) -> Usage:
    """Return the usage of one request with its cost; without prices the cost is unknown."""
    if prices is None:
        return replace(usage, cost_usd=None if usage.total else 0.0)
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    of = prices.of_request(usage.input_tokens + read + written)
    cost = (
        usage.input_tokens * of.input
        + usage.output_tokens * of.output
        + read * of.cache_read
        + written * of.cache_write
    )
    return replace(usage, cost_usd=cost / MILLION)
