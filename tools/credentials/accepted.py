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
from deskhand.vncbridge.auth.people import PeopleDirectory
from deskhand.vncbridge.auth.policy import Principal

from .rows import CredentialRows

log = logging.getLogger(__name__)

OWNER = "owner"
INSTANCE = "instance"
"""File of the id after which cookies and the chain of the audit log are named."""
EARLIER = "sessions.json"
"""File of an earlier version, with all of this."""


async def load_credentials(
    store: Store, data: Path, token: str, people: PeopleDirectory | None = None
) -> Credentials:
    """Return the accepted credentials; sessions, tokens and the instance id survive a restart.

    If the file of an earlier version cannot be read, people have to sign in again.
    """
    rows = CredentialRows(store)
    instance = await _instance(rows, data)
    sessions, issued = await rows.sessions(), await rows.tokens()
    credentials = Credentials(
        instance, time.time, sessions=sessions, issued=issued, records=rows, people=people
    )
    credentials.accept_token(token, Principal(OWNER))
    return credentials


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
