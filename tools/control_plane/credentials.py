"""The credentials that a control plane accepts, kept in its data directory as digests."""

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
    """Return what is accepted; sessions, tokens and the instance outlive a restart.

    A file that cannot be read signs everybody out: they can sign in again.
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

    def keep(sessions: Mapping[str, Session], issued: Sequence[Issued]) -> None:
        value = {
            "instance": instance,
            "sessions": {key: asdict(one) for key, one in sessions.items()},
            "tokens": [asdict(one) for one in issued],
        }
        write_private(file, json.dumps(value))

    keep(sessions, issued)
    credentials = Credentials(instance, time.time, sessions=sessions, issued=issued, kept=keep)
    credentials.accept_token(token, Principal(OWNER))
    return credentials


def read_token(file: Path) -> str:
    """Return the access token; made at the first start, so that scripts go on working."""
    if not file.exists():
        write_private(file, new_token() + "\n")
    token = file.read_text().strip()
    if not token:
        raise OSError(f"{file} holds no token")
    return token


def _read(row: dict[str, Any]) -> dict[str, Any]:
    # JSON knows no tuples; a session of an earlier version has no scopes.
    return {**row, "scopes": tuple(row["scopes"])} if "scopes" in row else row
