"""Parts of one desktop service that serve git."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deskhand.desktop.errors import InvalidSecret
from deskhand.desktop.git.askpass import Askpass
from deskhand.desktop.git.attribution import Attribution
from deskhand.desktop.git.credentials import GitCredentials
from deskhand.desktop.git.errors import InvalidCredential
from deskhand.desktop.git.touched_paths import PathStore
from deskhand.desktop.secrets.redaction import SecretRedactor


class GitParts:
    """The parts that serve git: credentials, attribution of commits, paths that chats touched."""

    def __init__(
        self,
        folder: Path,
        publish: Callable[[str, dict[str, Any]], object],
        redactor: SecretRedactor,
    ) -> None:
        self.paths = PathStore()
        self.credentials = GitCredentials()
        self.attribution = Attribution(self.paths, self.credentials, publish, time.time)
        self.askpass = Askpass(
            folder / "bin" / "deskhand-askpass", folder / "run" / "askpass", self.attribution.answer
        )
        self._redactor = redactor

    def redact(self, password: str) -> None:
        """Redact a password from now on.

        Raises:
            InvalidCredential: If it cannot be redacted.
        """
        try:
            self._redactor.add([password])
        except InvalidSecret as error:
            raise InvalidCredential(str(error)) from error
