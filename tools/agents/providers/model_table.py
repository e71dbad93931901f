"""Facts about models, as data: provider, protocol, bound thinking, limits and prices.

Sources: the pages of the models at platform.claude.com, developers.openai.com and ai.google.dev,
as of November 2026. An id that is not in the table has the facts of the longest entry that it
begins with. Entries that end with a dash are families: they cover ids that are newer than the
table. A model that no entry covers counts as bound: an append-only history is accepted everywhere,
while a changed one ends the run on a bound model.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from .prices import PriceList, Prices

SCRIPTED = "scripted:"
PLAYBOOK = "playbook:"
WITHOUT_MODEL = (SCRIPTED, PLAYBOOK)
"""Beginnings of the names that no real model answers to."""
MEGABYTE = 1024 * 1024

MOST_PICTURES = 600
"""Pictures in a request; models with a window of 200,000 tokens take 100
(https://docs.claude.com/en/docs/build-with-claude/vision)."""

ProviderName = Literal["", "anthropic", "openai", "gemini", "compatible", "scripted", "playbook"]
"""Empty if only the keys that are set decide."""


@dataclass(frozen=True)
class ModelFacts:
    """Properties of one model."""

    provider: ProviderName = ""
    computer: str = "computer_toolset_20260801"
    """The provider's computer tool and its version; ``function`` for a plain function tool."""
    betas: tuple[str, ...] = ()
    """Values of the provider's beta header that the computer tool needs."""
    thinking: Literal["adaptive", "budget", "effort", "none"] = "none"
    """How a request asks for thinking; ``effort`` where its amount is the only control."""
    bound: bool = True
    """True if a thinking block is valid only after exactly the prefix it was made for."""
    binding_controls: bool = False
    """True if requests may choose what happens to a block of another prefix."""
    window_tokens: int | None = None
    """Size of the context window, ``None`` if unknown."""
    pictures: int = MOST_PICTURES
    longest_edge: int = 8000
    """Pixels of the longer edge of a picture."""
    largest_request: int = 32 * MEGABYTE
    """Bytes of the body."""
    prices: PriceList | None = None
    """``None`` if unknown."""
    compaction: Literal["on_demand", "openai"] | None = None
    """The provider's own means of shortening a history; ``None`` if it has none."""
    cache: Literal["marks", "breakpoints", "implicit"] = "implicit"
    """How a request names what is to be cached: Anthropic's marks, OpenAI's breakpoints."""
    ends_unconfirmed: bool = False
    """True if a turn must end after a call whose safety check was not acknowledged."""


def _prices(
    input_: float, output: float, read: float, write: float | None = None, long: int | None = None
) -> PriceList:
    usual = Prices(input_, output, read, input_ if write is None else write)
    if long is None:
        return PriceList(usual)
    twice = Prices(2 * usual.input, 1.5 * usual.output, 2 * usual.cache_read, 2 * usual.cache_write)
    return PriceList(usual, twice, long)


_WINDOW = 1_000_000
_CLAUDE = ModelFacts("anthropic", thinking="adaptive", compaction="on_demand", cache="marks")
_BOUND = replace(_CLAUDE, binding_controls=True, window_tokens=_WINDOW)
_FREE = replace(_CLAUDE, bound=False, compaction=None)
_OPUS = _prices(5, 25, 0.5, 6.25)
_HAIKU_5_5 = PriceList(Prices(0.1, 0.5, 0.01, 0.125), Prices(0.5, 2.5, 0.05, 0.625), 100_000)
_FABLE_5_1 = _prices(10, 50, 0.25, 12.5)
_OLD = replace(
    _FREE,
    computer="computer_20250124",
    betas=("computer-use-2025-01-24",),
    thinking="budget",
    window_tokens=200_000,
    pictures=100,
)
_OPUS_4_5 = replace(_OLD, computer="computer_20251124", betas=("computer-use-2025-11-24",))

_GPT_WINDOW = 1_050_000
_GPT_LONG = 272_000
# Reasoning items of another prefix are removed, and the request is accepted.
_GPT = ModelFacts(
    "openai",
    computer="computer",
    thinking="effort",
    window_tokens=_GPT_WINDOW,
    pictures=500,
    largest_request=50 * MEGABYTE,
    compaction="openai",
    cache="breakpoints",
)
_GPT_5 = replace(_GPT, cache="implicit")
_PREVIEW = replace(_GPT_5, computer="computer_use_preview", window_tokens=8_192, pictures=100)

_GEMINI = ModelFacts(
    "gemini",
    computer="computer_use",
    thinking="effort",
    window_tokens=1_048_576,
    pictures=3000,
    largest_request=20 * MEGABYTE,
    ends_unconfirmed=True,
)
# Their computer tool has other functions, and browsers only.
_GEMINI_PREVIEW = replace(_GEMINI, computer="computer_use_preview")

TABLE = {
    "claude-": _CLAUDE,
    "claude-opus-5-5": replace(_BOUND, prices=_prices(4, 20, 0.2, 5)),
    "claude-sonnet-5-5": replace(_BOUND, prices=_prices(2, 10, 0.1, 2.5)),
    "claude-haiku-5-5": replace(_BOUND, prices=_HAIKU_5_5),
    "claude-fable-5-2": _BOUND,
    "claude-mythos-5-2": _BOUND,
    "claude-fable-5-1": replace(_BOUND, prices=_FABLE_5_1),
    "claude-mythos-5-1": replace(_BOUND, prices=_FABLE_5_1),
    "claude-opus-5-": _CLAUDE,
    "claude-opus-5": replace(_FREE, window_tokens=_WINDOW, prices=_OPUS),
    "claude-sonnet-5-": _CLAUDE,
    "claude-sonnet-5": replace(_FREE, window_tokens=_WINDOW, prices=_prices(2, 10, 0.2, 2.5)),
    "claude-opus-4-8": replace(_FREE, window_tokens=_WINDOW, prices=_OPUS),
    "claude-opus-4-7": replace(_FREE, window_tokens=_WINDOW, prices=_OPUS),
    "claude-opus-4-6": replace(_FREE, window_tokens=_WINDOW, prices=_OPUS),
    "claude-sonnet-4-6": replace(_FREE, window_tokens=_WINDOW, prices=_prices(3, 15, 0.3, 3.75)),
    "claude-opus-4-5": replace(_OPUS_4_5, prices=_OPUS),
    "claude-sonnet-4-5": replace(_OLD, prices=_prices(3, 15, 0.3, 3.75)),
    "claude-haiku-4-5": replace(_OLD, prices=_prices(1, 5, 0.1, 1.25)),
    "gpt-": _GPT,
    "gpt-6.2-sol": replace(_GPT, prices=_prices(2, 10, 0.1, 2.5, _GPT_LONG)),
    "gpt-6.2-astra": _GPT,
    "gpt-6.1-sol": replace(_GPT, prices=_prices(2, 10, 0.1, 2.5, _GPT_LONG)),
    "gpt-6.1-terra": _GPT,
    "gpt-6-sol": replace(_GPT, prices=_prices(2, 10, 0.2, 2.5, _GPT_LONG)),
    "gpt-6-astra": replace(_GPT, prices=_prices(10, 50, 1, 12.5, _GPT_LONG)),
    "gpt-6-luna": replace(_GPT, prices=_prices(0.1, 0.5, 0.01, 0.125, _GPT_LONG)),
    "gpt-5.6-sol": replace(_GPT, prices=_prices(4, 20, 0.4, 5, _GPT_LONG)),
    "gpt-5.6-terra": _GPT,
    "gpt-5.6-luna": _GPT,
    "gpt-5.5-pro": _GPT_5,
    "gpt-5.5": replace(_GPT_5, prices=_prices(5, 30, 0.5, None, _GPT_LONG)),
    "gpt-5.4-pro": _GPT_5,
    "gpt-5.4-nano": replace(_GPT_5, window_tokens=400_000),
    "gpt-5.4-mini": replace(_GPT_5, window_tokens=400_000, prices=_prices(0.75, 4.5, 0.075)),
    "gpt-5.4": replace(_GPT_5, prices=_prices(2.5, 15, 0.25, None, _GPT_LONG)),
    "computer-use-preview": _PREVIEW,
    "gemini-": _GEMINI,
    "gemini-2.5-computer-use-preview": _GEMINI_PREVIEW,
    "gemini-3-flash-preview": _GEMINI_PREVIEW,
    "gemini-3-pro-preview": _GEMINI_PREVIEW,
    "gemini-3.5-flash": _GEMINI,
    "gemini-3.8-flash": _GEMINI,
    "gemini-4-argon": _GEMINI,
}
UNKNOWN = ModelFacts()
_COMPATIBLE = ModelFacts("compatible", computer="function", bound=False, pictures=50)
_SCRIPTED = ModelFacts("scripted", bound=False, cache="marks")
_PLAYBOOK = ModelFacts("playbook", bound=False)
OF_PROVIDER: dict[str, ModelFacts] = {
    "anthropic": _CLAUDE,
    "openai": _GPT,
    "gemini": _GEMINI,
    "compatible": _COMPATIBLE,
    "scripted": _SCRIPTED,
    "playbook": _PLAYBOOK,
}
"""Facts of a model whose name has its provider before it and is in no entry."""

# Platforms write a region and a vendor before the id, and a date or a version behind it.
_NAME = re.compile(
    r"(?:[a-z]+\.)*(?P<id>[a-z0-9.-]+?)"
    r"(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2})?(?:-v\d+(?::\d+)?)?(?:-latest)?"
)


def model_facts(name: str) -> ModelFacts:
    """Return the facts about a model from its name; a provider may stand before it."""
    provider, own = split_name(name)
    # A script, and a server that is only compatible, may use the name of any model.
    if provider in ("scripted", "compatible", "playbook"):
        return OF_PROVIDER[provider]
    found = _NAME.fullmatch(own)
    entries = [key for key in TABLE if found and _covers(key, found["id"])]
    default = UNKNOWN if provider is None else OF_PROVIDER[provider]
    facts = TABLE[max(entries, key=len)] if entries else default
    return facts if provider in (None, facts.provider) else default


def split_name(name: str) -> tuple[str | None, str]:
    """Return the provider before a name, as in ``openai:gpt-5.4``, and the name without it."""
    provider, colon, own = name.partition(":")
    return (provider, own) if colon and provider in OF_PROVIDER else (None, name)


def sent_name(name: str) -> str:
    """Return the name of a model as its provider is asked for it."""
    # The scripted server knows its own prefix, and shows it in its log.
    return name if name.startswith(SCRIPTED) else split_name(name)[1]


def _covers(entry: str, model_id: str) -> bool:
    rest = model_id.removeprefix(entry)
    # ``claude-opus-5-5`` is no beginning of ``claude-opus-5-55``, which is another model.
    return rest != model_id and (not rest or entry.endswith("-") or rest[0] in "-.@")
