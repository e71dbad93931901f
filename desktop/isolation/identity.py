"""Identity of one desktop: the id of its instance, and where its directory lies."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deskhand.desktop.uid_base import DEFAULT_UID_BASE

from .claims import user_numbers
from .data_dir import DesktopDirectory, run_root


@dataclass(frozen=True)
class DesktopIdentity:
    """The identity with which one desktop starts."""

    instance: str
    root: Path
    """Directory of all desktops of the user who starts this one."""
    directory: DesktopDirectory
    numbers: range
    """Of the users ``deskhand-NN`` that it may run as."""
    uid_base: int = DEFAULT_UID_BASE
    """Base of their ids."""


def new_identity(
    folder: Path | None, environment: Mapping[str, str], uid_base: int = DEFAULT_UID_BASE
) -> DesktopIdentity:
    """Return the identity of a new desktop; ``folder`` is the directory that was chosen for it.

    Raises:
        AccountUnavailable: If ``DESKHAND_USERS`` holds no range of users.
    """
    instance = secrets.token_hex(8)
    root = run_root(os.geteuid(), environment)
    directory = DesktopDirectory((folder or root / instance[:8]).absolute())
    return DesktopIdentity(instance, root, directory, user_numbers(environment), uid_base)
