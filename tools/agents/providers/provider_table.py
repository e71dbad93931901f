"""The providers of models, as data, and the accounts that an environment contains. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Provider:
    """One provider."""

    name: str
    title: str
    """Its name for people."""
    keys: tuple[str, ...]
    """Environment variables of the key; the first one that is set counts."""
    base_url: str
    """Environment variable of another address than the usual one."""
    host: str
    """Host of the usual address."""
    default_model: str | None
    library: str
    """Package of the client, as it is imported."""
    install: str
    """Requirement that installs the client."""
    adapter: str
    """Class in the provider's module ``account``."""
    efforts: tuple[str, ...] = ()
    """Values that a request may ask for; empty if it may ask for none."""
    needs_key: bool = True
    """False if an address alone makes an account."""

    def effort(self, *wanted: str | None) -> str | None:
        """Return the first effort that this provider knows; ``None`` for the model's default."""
        return next((one for one in wanted if one in self.efforts), None)


PROVIDERS = {
    one.name: one
    for one in (
        Provider(
            "anthropic",
            "Anthropic",
            ("ANTHROPIC_API_KEY",),
            "ANTHROPIC_BASE_URL",
            "api.anthropic.com",
            # Served with the computer toolset of 2026-08-01 (reference, dependencies.md 0.2).
            "claude-opus-5-5",
            "anthropic",
            "deskhand",
            "AnthropicModel",
            ("low", "medium", "high", "xhigh", "max"),
        ),
        Provider(
            "openai",
            "OpenAI",
            ("OPENAI_API_KEY",),
            "OPENAI_BASE_URL",
            "api.openai.com",
            "gpt-6.2-sol",
            "openai",
            "deskhand[openai]",
            "OpenAiModel",
            ("none", "minimal", "low", "medium", "high", "xhigh", "max"),
        ),
        Provider(
            "gemini",
            "Google",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            "GEMINI_BASE_URL",
            "generativelanguage.googleapis.com",
            "gemini-3.5-flash",
            "google.genai",
            "deskhand[gemini]",
            "GeminiModel",
            ("minimal", "low", "medium", "high", "xhigh"),
        ),
        Provider(
            "compatible",
            "the OpenAI-compatible server",
            ("DESKHAND_OPENAI_API_KEY",),
            "DESKHAND_OPENAI_BASE_URL",
            "",
            None,
            "openai",
            "deskhand[openai]",
            "CompatibleModel",
            needs_key=False,
        ),
    )
}
"""In the order in which the default model is looked for."""


LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True)
class ModelAccount:
    """Access to one provider."""

    provider: Provider
    api_key: str = field(repr=False)
    base_url: str | None = None
    variable: str = ""
    """Environment variable that contained the key."""

    @property
    def host(self) -> str:
        """Host that requests are sent to, with its port if the address names one."""
        parts = urlsplit(self.base_url or "")
        port = "" if parts.port is None else f":{parts.port}"
        return f"{parts.hostname}{port}" if parts.hostname else self.provider.host

    @property
    def is_local(self) -> bool:
        """True if requests go to this machine, for which no proxy of the environment counts."""
        return urlsplit(self.base_url or "").hostname in LOOPBACK


def accounts_in(environment: Mapping[str, str]) -> dict[str, ModelAccount]:
    """Return the accounts that an environment contains, by the name of their provider."""
    found: dict[str, ModelAccount] = {}
    for name, provider in PROVIDERS.items():
        variable = next((key for key in provider.keys if environment.get(key)), None)
        base_url = environment.get(provider.base_url) or None
        if variable or (base_url and not provider.needs_key):
            key = environment.get(variable or "", "")
            found[name] = ModelAccount(provider, key, base_url, variable or provider.keys[0])
    return found


def effort_problem(effort: str | None) -> str | None:
    """Return why no provider takes an effort; ``None`` if one does, or none is given."""
    if effort is None:
        return None
    known = dict.fromkeys(one for provider in PROVIDERS.values() for one in provider.efforts)
    return None if effort in known else f"{effort!r} is none of {', '.join(known)}"


def key_variables() -> str:
    """Return the variables of which one must be set for a real model, as a phrase."""
    return listed(p.keys[0] for p in PROVIDERS.values() if p.needs_key)


def listed(names: Iterable[str]) -> str:
    """Join names with commas and a last ``or``."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last
