"""Selection of the model: of the providers whose keys are set, or a scripted one."""

from collections.abc import Callable, Mapping

from deskhand.tools.conversation.errors import NoModel

from .model_table import SCRIPTED, model_facts
from .port import Model, ProviderAccount, Role
from .provider_table import PROVIDERS, ModelAccount, key_variables

SCRIPTED_DEFAULTS: Mapping[Role, str] = {
    "parent": "scripted:delegate",
    "child": "scripted:tour",
    "helper": "scripted:look",
}
SCRIPTED_ADVICE = "or use a scripted model as scripted:tour"


class Models:
    """The models that are available in this process.

    ``open_account`` is called once for each provider, when a model of it is first selected, with
    the name of the provider or ``scripted``. ``has_client`` returns if the package with that name
    is installed.
    """

    def __init__(
        self,
        *,
        chosen: str | None,
        accounts: Mapping[str, ModelAccount],
        scripts: Callable[[], tuple[str, ...]],
        has_client: Callable[[str], bool],
        open_account: Callable[[str], ProviderAccount],
    ) -> None:
        self._chosen = chosen
        self._accounts = accounts
        self._scripts = scripts
        self._has_client = has_client
        self._open_account = open_account
        self._made: dict[str, ProviderAccount] = {}

    async def close(self) -> None:
        """Close the adapters that were created."""
        for account in self._made.values():
            await account.close()

    def usual(self, role: Role = "child") -> str:
        """Return the name of the model that is used when a chat names none."""
        defaults = (one.provider.default_model for one in self._accounts.values())
        default = next((name for name in defaults if name is not None), None)
        return self._chosen or default or SCRIPTED_DEFAULTS[role]

    @property
    def has_key(self) -> bool:
        """True if a provider's key is set."""
        return bool(self._accounts)

    def has_key_of(self, provider: str) -> bool:
        """Return whether the key of that provider is set."""
        return provider in self._accounts

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
            return name, self._account("scripted")
        return name, self._account(self._provider(name))

    def _provider(self, name: str) -> str:
        """Return the provider of a model, after a check that it can be asked."""
        # A name that no entry of the table covers may be known to the provider whose key is set.
        provider: str = model_facts(name).provider or next(iter(self._accounts), "")
        account = self._accounts.get(provider)
        if account is None:
            known = PROVIDERS.get(provider)
            if known is None:
                raise NoModel(
                    f"the model {name!r} is unknown (`deskhand models` lists the known ones): for"
                    f" one of a provider set {key_variables()}, {SCRIPTED_ADVICE}"
                )
            wanted = known.keys[0] if known.needs_key else known.base_url
            raise NoModel(f"the model {name!r} needs a key: set {wanted}, {SCRIPTED_ADVICE}")
        if not self._has_client(account.provider.library):
            raise NoModel(
                f"{account.variable} is set, but its client is not installed:"
                f" pip install '{account.provider.install}'"
            )
        return provider

    def _account(self, name: str) -> Model:
        if name not in self._made:
            self._made[name] = self._open_account(name)
        return self._made[name]
