"""Models of a control plane: the accounts of its environment, and the scripted model."""

import asyncio
import contextlib
import importlib
from collections.abc import Mapping
from contextlib import AsyncExitStack
from types import ModuleType

from fastapi import APIRouter

from deskhand.tools.agents.providers.environment.installed import has_client
from deskhand.tools.agents.providers.lazy_account import LazyAccount
from deskhand.tools.agents.providers.model_table import SCRIPTED, TABLE
from deskhand.tools.agents.providers.port import ProviderAccount
from deskhand.tools.agents.providers.provider_table import (
    PROVIDERS,
    ModelAccount,
    Provider,
    accounts_in,
)
from deskhand.tools.agents.providers.request_slots import RequestSlots
from deskhand.tools.agents.providers.selection import Models
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from deskhand.tools.control_plane.routes.models import KnownModel, KnownScript, ModelChoices, router
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.store.stored_files import StoredFiles


def open_models(
    settings: Settings,
    environment: Mapping[str, str],
    scripted: ScriptedModelServer,
    files: StoredFiles,
    stack: AsyncExitStack,
) -> Models:
    """Return the models; their connections are closed with ``stack``."""
    accounts = accounts_in(environment)

    def open_account(name: str) -> ProviderAccount:
        if name == "scripted":
            account = ModelAccount(PROVIDERS["anthropic"], scripted.api_key, scripted.url)
        else:
            account = accounts[name]
        slots = RequestSlots(settings.model_requests)
        return LazyAccount(lambda: _opened(account, files, slots, settings.effort))

    models = Models(
        chosen=settings.model,
        accounts=accounts,
        scripts=lambda: scripted.names,
        has_client=has_client,
        open_account=open_account,
    )
    stack.push_async_callback(models.close)
    return models


def models_router(models: Models, scripted: ScriptedModelServer) -> APIRouter:
    """Return the route of the models that a task can be given to; it leaves out families of ids."""

    def choices() -> ModelChoices:
        return ModelChoices(
            models.usual(),
            [
                KnownModel(name, facts.provider, models.has_key_of(facts.provider))
                for name, facts in TABLE.items()
                if not name.endswith("-")
            ],
            [KnownScript(f"{SCRIPTED}{one.name}", one.about) for one in scripted.scripts],
        )

    return router(choices)


def _opened(
    account: ModelAccount, files: StoredFiles, slots: RequestSlots, effort: str
) -> ProviderAccount:
    """Import the SDK of a provider, which takes seconds, and return its adapter."""
    adapter = getattr(_adapter_module(account.provider), account.provider.adapter)
    # An effort that only another provider knows is left to the model's default.
    options = {"effort": effort} if effort in account.provider.efforts else {}
    opened: ProviderAccount = adapter(
        files,
        api_key=account.api_key,
        base_url=account.base_url,
        variable=account.variable,
        slots=slots,
        **options,
    )
    return opened


def _preload(provider: Provider) -> None:
    if has_client(provider.library):
        _adapter_module(provider)


def _adapter_module(provider: Provider) -> ModuleType:
    return importlib.import_module(f"deskhand.tools.agents.providers.{provider.name}.account")


def start_preloading(stack: AsyncExitStack) -> None:
    """Import the client of the scripted models in a thread."""
    # A turn that asks a model before the end of this waits for it in a thread of its own. Without
    # Anthropic's client, which the scripted models need too, the first turn names what is missing.
    preloading = asyncio.create_task(
        asyncio.to_thread(_preload, PROVIDERS["anthropic"]), name="preload provider"
    )
    stack.push_async_callback(_finished, preloading)


async def _finished(task: asyncio.Task[None]) -> None:
    # An import that runs in a thread cannot be cancelled, so that closing waits for its end.
    with contextlib.suppress(asyncio.CancelledError):
        await task
