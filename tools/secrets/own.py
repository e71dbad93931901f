"""The secrets of a control plane that is alone, as the routes change them."""

from collections.abc import Sequence

from .secret import Secret
from .store import SecretStore


class OwnSecrets:
    """Changes the secrets of one data directory."""

    def __init__(self, secret_store: SecretStore) -> None:
        self._secrets = secret_store

    def listed(self) -> Sequence[Secret]:
        """Return all secrets by name."""
        return self._secrets.listed()

    async def put(self, secret: Secret) -> None:
        """Store a secret; raises as `SecretStore.put`."""
        self._secrets.put(secret)

    async def remove(self, name: str) -> None:
        """Remove a secret; raises as `SecretStore.remove`."""
        self._secrets.remove(name)
