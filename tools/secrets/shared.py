"""The secrets of several control planes, as one encrypted value in their database.

Each control plane has them in memory (`SecretStore`), for masks and for agents that type them. A
change reads the value, changes it and writes it back in one transaction that locks its row, so that
two control planes lose no change of each other. The others find the change among those that are
announced, and read the value again.

The key is none of the database's: each control plane has it in a file of mode 0600, or by another
of its sources (:mod:`.keys`). The value is always encrypted with the key that it was encrypted with
first, whatever key a control plane prefers.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import BadSecret, UnknownRow
from deskhand.tools.store.tables.shared import DeploymentFactRow

from .encryption import decrypted, encrypted, key_of
from .secret import Secret, check
from .store import SecretStore, redactor_for, secrets_of, text_of

log = logging.getLogger(__name__)

FACT = "secrets"
"""Name of the fact that has the value."""
CHANGED = "secrets:"
"""What is announced after a change."""
Change = Callable[[list[Secret]], list[Secret]]


class SharedSecrets:
    """Changes the secrets of all control planes; ``announce`` reports a change to the others."""

    def __init__(
        self,
        store: Store,
        secret_store: SecretStore,
        announce: Callable[[str], Awaitable[None]],
    ) -> None:
        self._store = store
        self._secrets = secret_store
        self._keys = secret_store.keys
        self._announce = announce

    def listed(self) -> Sequence[Secret]:
        """Return all secrets by name."""
        return self._secrets.listed()

    async def open(self) -> None:
        """Read the secrets; where the database has none yet, add those of the data directory.

        Raises:
            BadSecret: If the key is not here, or the value was changed.
        """
        own = list(self._secrets.listed())
        found = await self._change(lambda known: known, first=own)
        self._secrets.replace(found)
        self._secrets.remove_file()

    async def reload(self) -> None:
        """Read the secrets again, which another control plane has changed."""
        try:
            self._secrets.replace(await self._store.read(self._read))
        except BadSecret as error:
            # The values of before are still masked.
            log.error("the secrets cannot be read again: %s", error)

    async def put(self, secret: Secret) -> None:
        """Store a secret, or replace the value and the rules of the one with its name.

        Raises:
            BadSecret: If its name, value or domains cannot be used.
        """
        check(secret)
        await self._keep(lambda known: [*(o for o in known if o.name != secret.name), secret])

    async def remove(self, name: str) -> None:
        """Remove a secret; texts that were written before stay masked.

        Raises:
            UnknownRow: If no secret has that name.
        """

        def without(known: list[Secret]) -> list[Secret]:
            if all(one.name != name for one in known):
                raise UnknownRow("secret", name)
            return [one for one in known if one.name != name]

        await self._keep(without)

    async def _keep(self, change: Change) -> None:
        self._secrets.replace(await self._change(change))
        await self._announce(CHANGED)

    async def _change(self, change: Change, first: Sequence[Secret] = ()) -> list[Secret]:
        async def write(session: AsyncSession) -> list[Secret]:
            row = await session.get(DeploymentFactRow, FACT, with_for_update=True)
            known = list(first) if row is None else self._decrypted(row.value)
            changed = change(known)
            if changed == known and (row is not None or not known):
                # Without secrets no control plane needs a key.
                return known
            # Built first, as it refuses values that cannot be masked.
            redactor_for(changed)
            if row is None:
                # Of two that insert it at once, the second is repeated and finds the first's.
                row = DeploymentFactRow(name=FACT, value=self._encrypted(changed, ""))
                session.add(row)
            else:
                row.value = self._encrypted(changed, key_of(row.value))
            await session.flush()
            return changed

        return await self._store.write(write)

    async def _read(self, session: AsyncSession) -> list[Secret]:
        row = await session.get(DeploymentFactRow, FACT)
        return [] if row is None else self._decrypted(row.value)

    def _encrypted(self, secrets: Sequence[Secret], key_id: str) -> str:
        key = self._keys.by_id(key_id) if key_id else self._keys.preferred()
        if key is None:
            raise _missing(key_id)
        return encrypted(text_of(secrets), key.secret)

    def _decrypted(self, content: str) -> list[Secret]:
        key = self._keys.by_id(key_of(content))
        if key is None:
            raise _missing(key_of(content))
        return secrets_of(decrypted(content, key.secret))


def _missing(key_id: str) -> BadSecret:
    return BadSecret(
        f"the secrets of the database need the key {key_id}, which is not here: copy secrets.key"
        " of another control plane into the data directory"
    )
