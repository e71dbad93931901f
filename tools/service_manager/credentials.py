"""Variables with secrets, and the credentials of a unit in their place (``LoadCredential=``).

Variables of a unit are shown to everyone who may read its properties; a credential is a file that
only the unit can read (systemd.exec(5)). One that has the name of a variable gives its value.
"""

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import fields
from pathlib import Path

from deskhand.tools.agents.providers.provider_table import PROVIDERS
from deskhand.tools.control_plane.settings import PREFIX, Settings
from deskhand.tools.store.bucket import SETTINGS

DIRECTORY = "CREDENTIALS_DIRECTORY"
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")

_SECRET = frozenset(
    (
        *(key for provider in PROVIDERS.values() for key in provider.keys),
        *(f"{PREFIX}{one.name.upper()}" for one in fields(Settings) if not one.repr),
        *(f"{PREFIX}TOKEN", *SETTINGS),
    )
)
"""Variables that contain a key, password or token: of providers, settings and the bucket."""


def forget_secrets(environment: MutableMapping[str, str]) -> None:
    """Remove the variables with secrets: a process that starts later could be read by others."""
    for name in _SECRET & environment.keys():
        del environment[name]


def credential_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that credentials give and the environment does not have.

    Raises:
        OSError: If a credential cannot be read.
    """
    folder = environment.get(DIRECTORY, "")
    if not folder or not Path(folder).is_dir():
        return {}
    return {
        file.name: file.read_text().strip()
        for file in sorted(Path(folder).iterdir())
        if _VARIABLE.fullmatch(file.name) and file.name not in environment
    }
