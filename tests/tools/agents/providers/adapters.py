"""The adapters of all providers, each with its place on the scripted server."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from deskhand.tools.agents.providers.anthropic.account import AnthropicModel
from deskhand.tools.agents.providers.attempts import RetryPolicy
from deskhand.tools.agents.providers.compatible.account import CompatibleModel
from deskhand.tools.agents.providers.gemini.account import GeminiModel
from deskhand.tools.agents.providers.openai.account import OpenAiModel
from deskhand.tools.agents.providers.port import PictureBytes, ProviderAccount
from deskhand.tools.agents.providers.provider_table import PROVIDERS, Provider
from deskhand.tools.agents.scripted.server import ScriptedModelServer


@dataclass(frozen=True)
class TestedAdapter:
    """One adapter, and how it asks for a script."""

    __test__ = False

    provider: Provider
    make: Callable[..., ProviderAccount]
    path: str
    """What the address of its client ends with."""
    key_status: int = 401
    """Status with which a wrong key is refused."""
    writes_cache: bool = True
    """False if writing to the cache costs nothing and is not counted."""
    reads_cache: bool = True
    """False if the server reports no cache."""

    def model(self, script: str) -> str:
        """Return the name of a script as a model of this provider."""
        # Scripted models are asked through this adapter.
        anthropic = self.provider.name == "anthropic"
        return f"{'scripted' if anthropic else self.provider.name}:{script}"

    def open(
        self,
        server: ScriptedModelServer,
        pictures: PictureBytes,
        *,
        api_key: str | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        **policy: Any,
    ) -> ProviderAccount:
        """Return the adapter for a running server."""
        return self.make(
            pictures,
            api_key=api_key or server.api_key,
            base_url=f"{server.url}{self.path}",
            retry_policy=RetryPolicy(**policy),
            sleep=sleep,
        )

    def __str__(self) -> str:
        return self.provider.name


ADAPTERS = (
    TestedAdapter(PROVIDERS["anthropic"], AnthropicModel, ""),
    TestedAdapter(PROVIDERS["openai"], OpenAiModel, "/v1"),
    TestedAdapter(PROVIDERS["gemini"], GeminiModel, "", key_status=400, writes_cache=False),
    TestedAdapter(
        PROVIDERS["compatible"],
        CompatibleModel,
        "/v1",
        writes_cache=False,
        reads_cache=False,
    ),
)
