"""Selection of the model: of the provider whose key is set, or a scripted one."""

from collections.abc import Callable, Mapping
from typing import Protocol

from deskhand.tools.conversation.errors import NoModel

from .model_table import SCRIPTED
from .port import Model, Role

PROVIDER_DEFAULT = "claude-opus-5-5"
"""Served with the computer toolset of 2026-08-01 (reference, dependencies.md 0.2)."""

SCRIPTED_DEFAULTS: Mapping[Role, str] = {
    "parent": "scripted:delegate",
    "child": "scripted:tour",
    "helper": "scripted:look",
}
KEY_ADVICE = "set ANTHROPIC_API_KEY, or use a scripted model as scripted:tour"


class ProviderAccount(Model, Protocol):
    """Models of one provider account, which keeps connections open."""

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""


class Models:
    """The models that are available in this process.

    ``provider`` and ``scripted`` create the adapter when it is first needed: importing a
    provider's SDK takes seconds.
    """

    def __init__(
        self,
        *,
        chosen: str | None,
        has_key: bool,
        scripts: Callable[[], tuple[str, ...]],
        provider: Callable[[], ProviderAccount],
        scripted: Callable[[], ProviderAccount],
    ) -> None:
        self._chosen = chosen
        self._has_key = has_key
        self._scripts = scripts
        self._makers: Mapping[str, Callable[[], ProviderAccount]] = {
            "provider": provider,
            "scripted": scripted,
        }
        self._made: dict[str, ProviderAccount] = {}

    async def close(self) -> None:
        """Close the adapters that were created."""
        for account in self._made.values():
            await account.close()

    def usual(self, role: Role = "child") -> str:
        """Return the name of the model that is used when a chat names none."""
        return self._chosen or (PROVIDER_DEFAULT if self._has_key else SCRIPTED_DEFAULTS[role])

    @property
    def has_key(self) -> bool:
        """True if a provider's key is set."""
        return self._has_key

    def resolve(self, model: str | None, *, role: Role) -> tuple[str, Model]:
        """Return the full name of a model and the model; ``None`` selects the default one.

        Raises:
            NoModel: If the model is not available; the message says what to do.
        """
        name = model or self.usual(role)
        if name.startswith(SCRIPTED):
            script = name.removeprefix(SCRIPTED)
            # Checked here and not by the server: a chat must be refused before it is created.
            if script not in self._scripts():
                raise NoModel(f"there is no script {script!r}; known: {', '.join(self._scripts())}")
            return name, self._make("scripted")
        if not self._has_key:
            raise NoModel(f"the model {name!r} needs a key: {KEY_ADVICE}")
        return name, self._make("provider")

    def _make(self, kind: str) -> Model:
        if kind not in self._made:
            self._made[kind] = self._makers[kind]()
        return self._made[kind]
