"""The people of the control plane, their credentials, and the secrets that they give to agents.

With a database on a server they are those of all control planes on it. What another one changes is
announced in the database, and taken over here.
"""

import time
from contextlib import AsyncExitStack
from typing import NamedTuple

from deskhand.tools.control_plane.routes.secrets import SecretAdministration
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.credentials.accepted import load_credentials
from deskhand.tools.credentials.database_clock import DatabaseClock
from deskhand.tools.credentials.shared import SharedCredentialRows, follow
from deskhand.tools.fleet.placement.placement import Placement
from deskhand.tools.people.people import People
from deskhand.tools.secrets.own import OwnSecrets
from deskhand.tools.secrets.shared import CHANGED, SharedSecrets
from deskhand.tools.secrets.store import SecretStore
from deskhand.tools.store.database import Store
from deskhand.vncbridge.auth.credentials import Credentials

from .late_modules import node_desktops
from .tasks import start_task


class Access(NamedTuple):
    """Who has access, by what, and the secrets of agents."""

    people: People
    credentials: Credentials
    secrets: SecretAdministration


async def access_of(
    settings: Settings,
    store: Store,
    token: str,
    secret_store: SecretStore,
    fleet: Placement,
    stack: AsyncExitStack,
) -> Access:
    """Return the people, credentials and secrets that control planes have stored."""
    clock = DatabaseClock(time.time) if settings.database else None
    if clock is not None:
        await clock.read(store)
    people = People(store, clock or time.time)
    await people.load()
    credentials = await load_credentials(store, settings.data_dir, token, people, shared=clock)
    if clock is None:
        return Access(people, credentials, OwnSecrets(secret_store))
    people.changed = credentials.announce_people
    announce = SharedCredentialRows(store).announce
    secrets = SharedSecrets(store, secret_store, announce)
    await secrets.open()

    revocations = node_desktops().revocations(fleet) if settings.cluster else None
    if revocations is not None:
        credentials.on_end = revocations.ended

    async def changed(name: str) -> None:
        if name == CHANGED:
            await secrets.reload()
            return
        await credentials.changed_elsewhere(name)
        if revocations is not None:
            revocations.announced(name)

    start_task(stack, follow(store, changed, clock), "follow other control planes")
    return Access(people, credentials, secrets)
