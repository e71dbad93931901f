"""`deskhand models`: the table of models, and which of them have a key."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from deskhand.tools.agents.providers.environment.installed import has_client
from deskhand.tools.agents.providers.model_table import TABLE, ModelFacts
from deskhand.tools.agents.providers.provider_table import PROVIDERS, ModelAccount, accounts_in
from deskhand.tools.commands.terminal import print_json, print_line

Json = dict[str, Any]

HEADER = ("MODEL", "PROVIDER", "KEY", "COMPUTER TOOL", "BOUND", "WINDOW", "USD PER MILLION TOKENS")


def main(as_json: bool, environment: Mapping[str, str] = os.environ) -> int:
    """Print the table; return the exit code."""
    accounts = accounts_in(environment)
    if as_json:
        print_json({"models": [_entry(name, accounts) for name in TABLE]})
        return 0
    rows = [HEADER, *(_row(name, facts, accounts) for name, facts in TABLE.items())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print_line("  ".join(cells).rstrip())
    for line in _notes(accounts):
        print_line(line)
    return 0


def _row(
    name: str, facts: ModelFacts, accounts: Mapping[str, ModelAccount]
) -> tuple[str, str, str, str, str, str, str]:
    account = accounts.get(facts.provider)
    key = "no"
    if account is not None:
        key = "yes" if has_client(account.provider.library) else "no client"
    window = "?" if facts.window_tokens is None else f"{facts.window_tokens:,}"
    bound = "yes" if facts.bound else "no"
    return (_pattern(name), facts.provider, key, facts.computer, bound, window, _price(facts))


def _price(facts: ModelFacts) -> str:
    if facts.prices is None:
        return "?"
    usual = facts.prices.usual
    text = f"{usual.input:g} in, {usual.output:g} out, {usual.cache_read:g} cached"
    return text if facts.prices.long_from is None else f"{text} (to {facts.prices.long_from:,})"


def _pattern(name: str) -> str:
    # A family covers the ids that begin with it.
    return f"{name}*" if name.endswith("-") else name


def _notes(accounts: Mapping[str, ModelAccount]) -> Iterator[str]:
    for name, provider in PROVIDERS.items():
        account = accounts.get(name)
        if account is None:
            continue
        yield f"{account.variable} is set: {provider.title} at {account.host}"
        if not has_client(provider.library):
            yield f"  its client is not installed: pip install '{provider.install}'"
    yield "A name that is not here has the facts of the longest entry that it begins with."


def _entry(name: str, accounts: Mapping[str, ModelAccount]) -> Json:
    facts = TABLE[name]
    prices = facts.prices.usual if facts.prices else None
    return {
        "model": _pattern(name),
        "provider": facts.provider,
        "has_key": facts.provider in accounts,
        "computer": facts.computer,
        "betas": list(facts.betas),
        "bound": facts.bound,
        "window_tokens": facts.window_tokens,
        "pictures": facts.pictures,
        "largest_request": facts.largest_request,
        "compaction": facts.compaction,
        "prices": None if prices is None else vars(prices),
    }
