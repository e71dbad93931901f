"""The credentials that a control plane accepts, stored in its database as digests.

A reader of the database cannot sign in. The owner's token is a file of its own in plain text, for
scripts on this machine.
"""

import json
import logging
import secrets
import time
from pathlib import Path

from deskhand.tools.store.database import Store
from deskhand.tools.store.private_file import write_private
from deskhand.vncbridge.auth.credentials import Credentials, new_token
from deskhand.vncbridge.auth.page_keys import PageKeys
from deskhand.vncbridge.auth.people import PeopleDirectory
from deskhand.vncbridge.auth.policy import Principal

from .database_clock import DatabaseClock
from .rows import CredentialRows
from .shared import OneTimeSecretRows, SharedCredentialRows

log = logging.getLogger(__name__)

OWNER = "owner"
INSTANCE = "instance"
"""File of the id of the data directory, after which its chain of the audit log is named.

Cookies are named after it, too, or after that of the first of the control planes of a database."""
PAGE_KEYS = "page_keys"
"""Fact of the deployment: the secret of page keys that outlive the process."""
EARLIER = "sessions.json"
"""File of an earlier version, with all of this."""


async def load_credentials(
    store: Store,
    data: Path,
    token: str,
    people: PeopleDirectory | None = None,
    *,
    shared: DatabaseClock | None = None,
) -> Credentials:
    """Return the accepted credentials; sessions, tokens and the instance id survive a restart.

    ``shared``: other control planes accept them, too, and this is the clock of all. If the file of
    an earlier version cannot be read, people have to sign in again.
    """
    rows = CredentialRows(store) if shared is None else SharedCredentialRows(store)
    instance = await _instance(rows, data)
    if shared is not None:
        instance = await rows.fact(INSTANCE, instance)
    lasting = await rows.fact(PAGE_KEYS, secrets.token_hex(32))
    credentials = Credentials(
        instance,
        shared or time.time,
        sessions=await rows.sessions(),
        issued=await rows.tokens(),
        records=rows,
        people=people,
        one_time=None if shared is None else OneTimeSecretRows(store),
        # Another one cannot know what this process has in its memory alone.
        page_keys=PageKeys(bytes.fromhex(lasting), always=shared is not None),
    )
    credentials.accept_token(token, Principal(OWNER))
    return credentials


def own_instance(data: Path) -> str:
    """Return the id of a data directory for which `load_credentials` was called."""
    return (data / INSTANCE).read_text().strip()


def read_token(file: Path) -> str:
    """Return the access token; create it at the first start and keep it for scripts."""
    if not file.exists():
        write_private(file, new_token() + "\n")
    token = file.read_text().strip()
    if not token:
        raise OSError(f"{file} holds no token")
    return token


async def _instance(rows: CredentialRows, data: Path) -> str:
    """Return the id of the instance; take over what an earlier version has stored."""
    file, earlier = data / INSTANCE, data / EARLIER
    if earlier.exists():
        try:
            stored = json.loads(earlier.read_text())
            await rows.adopt(stored)
            write_private(file, stored.get("instance") or secrets.token_hex(8))
        except (ValueError, TypeError, AttributeError) as error:
            log.warning("%s cannot be read, everybody has to sign in again: %s", earlier, error)
        earlier.unlink()
    instance = file.read_text().strip() if file.exists() else ""
    if not instance:
        instance = secrets.token_hex(8)
        # Before the first sign-in: the cookie is named after the id.
        write_private(file, instance)
    return instance
