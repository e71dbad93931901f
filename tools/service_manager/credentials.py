"""Credentials of a unit that take the place of environment variables (``LoadCredential=``).

Variables of a unit are shown to everyone who may read its properties; a credential is a file that
only the unit can read (systemd.exec(5)). One that has the name of a variable gives its value.
"""

import re
from collections.abc import Mapping
from pathlib import Path

DIRECTORY = "CREDENTIALS_DIRECTORY"
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")


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
