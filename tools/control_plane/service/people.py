"""The people of the control plane, and the credentials by which they and others sign in."""

import time
from pathlib import Path

from deskhand.tools.credentials.accepted import load_credentials
from deskhand.tools.people.people import People
from deskhand.tools.store.database import Store
from deskhand.vncbridge.auth.credentials import Credentials


async def open_people(store: Store, data: Path, token: str) -> tuple[People, Credentials]:
    """Return the people and the credentials that earlier control planes have stored."""
    people = People(store, time.time)
    await people.load()
    return people, await load_credentials(store, data, token, people)
