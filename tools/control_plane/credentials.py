"""The credentials that a control plane accepts, stored in its data directory as digests.

``sessions.json`` has sessions and issued tokens as digests, so that its reader cannot sign in. The
owner's token is a file of its own in plain text, for scripts on this machine.
"""

import json
import logging
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deskhand.tools.store.private_file import write_private
from deskhand.vncbridge.auth.credentials import Credentials, Issued, Session, new_token
from deskhand.vncbridge.auth.policy import Principal

log = logging.getLogger(__name__)

OWNER = "owner"


def load_credentials(data: Path, token: str) -> Credentials:
    """Return the accepted credentials; sessions, tokens and the instance id survive a restart.

    If the file cannot be read, all sessions end and people have to sign in again.
    """
    file = data / "sessions.json"
    try:
        kept = json.loads(file.read_text()) if file.exists() else {}
        instance = kept.get("instance") or secrets.token_hex(8)
        sessions = {key: Session(**_read(one)) for key, one in kept.get("sessions", {}).items()}
        issued = [Issued(**_read(one)) for one in kept.get("tokens", [])]
    except (ValueError, TypeError, AttributeError) as error:
        log.warning("%s cannot be read, everybody has to sign in again: %s", file, error)
        instance, sessions, issued = secrets.token_hex(8), {}, []

    # Called after every change, so that a session that was ended stays so after a crash.
    def keep(sessions: Mapping[str, Session], issued: Sequence[Issued]) -> None:
        value = {
            "instance": instance,
            "sessions": {key: asdict(one) for key, one in sessions.items()},
            "tokens": [asdict(one) for one in issued],
        }
        write_private(file, json.dumps(value))

    # Written even without a change: the cookie is named after the instance id, so a new id must be
    # on disk before the first browser signs in.
    keep(sessions, issued)
    credentials = Credentials(instance, time.time, sessions=sessions, issued=issued, kept=keep)
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


def _read(row: dict[str, Any]) -> dict[str, Any]:
    # JSON has no tuples, and a session of an earlier version has no scopes.
    return {**row, "scopes": tuple(row["scopes"])} if "scopes" in row else row
