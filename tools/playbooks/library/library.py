"""The stored playbooks: ``<data-dir>/playbooks/NAME/playbook.yaml``, pictures in ``NAME/patches``.

The files are for people too, who may edit them at any time: they are read anew for each use, and
written whole, so that a reader sees the old text or the new one.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deskhand.tools.playbooks.errors import (
    BadPlaybook,
    PlaybookError,
    PlaybookExists,
    UnknownPlaybook,
)
from deskhand.tools.playbooks.form.fields import MOST_CHARACTERS
from deskhand.tools.playbooks.form.form import read_playbook
from deskhand.tools.playbooks.playbook import Playbook
from deskhand.tools.playbooks.texts import NAME

FILE = "playbook.yaml"
LARGEST_PATCH = 4 * 1024 * 1024
"""Bytes of a picture of a target."""


@dataclass(frozen=True)
class StoredPlaybook:
    """One entry of the list of playbooks."""

    name: str
    playbook: Playbook | None
    error: str = ""
    """Why it cannot be replayed; empty if it can."""


class PlaybookLibrary:
    """The playbooks in one folder; all methods block."""

    def __init__(self, folder: Path) -> None:
        """``folder`` need not exist yet."""
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Return the names of all playbooks, sorted."""
        if not self._folder.is_dir():
            return ()
        found = (path.parent.name for path in self._folder.glob(f"*/{FILE}"))
        return tuple(sorted(name for name in found if NAME.fullmatch(name)))

    def list(self) -> tuple[StoredPlaybook, ...]:
        """Return all playbooks, also those with an error."""
        return tuple(self._entry(name) for name in self.names())

    def text(self, name: str) -> str:
        """Return the YAML text of a playbook.

        Raises:
            PlaybookError: If there is none of that name, or it cannot be read.
        """
        # Checked first: a name must not leave the folder.
        if not NAME.fullmatch(name):
            raise UnknownPlaybook(name, self.names())
        try:
            with (self._folder / name / FILE).open("rb") as file:
                return file.read(4 * MOST_CHARACTERS).decode()
        except FileNotFoundError:
            raise UnknownPlaybook(name, self.names()) from None
        except (OSError, UnicodeDecodeError) as error:
            raise BadPlaybook(f"{FILE} cannot be read: {error}") from error

    def load(self, name: str) -> Playbook:
        """Read a playbook.

        Raises:
            PlaybookError: If there is none of that name, or it has an error.
        """
        playbook = read_playbook(self.text(name))
        if playbook.name != name:
            raise BadPlaybook(f"its name is {playbook.name!r}, but that of its folder is {name!r}")
        return playbook

    def folder(self, name: str) -> str:
        """Return the folder of a playbook, to which the names of its patches are relative."""
        return str(self._folder / name)

    def save(
        self, text: str, patches: Mapping[str, bytes] | None = None, *, replace: bool = False
    ) -> Playbook:
        """Store a playbook under its own name; ``patches`` are its pictures by their file names.

        Raises:
            BadPlaybook: If the text is not a playbook.
            PlaybookExists: If there is one of that name, and ``replace`` is false.
        """
        playbook = read_playbook(text)
        target = self._folder / playbook.name
        if not replace and (target / FILE).exists():
            raise PlaybookExists(playbook.name)
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in (patches or {}).items():
            (target / name).parent.mkdir(mode=0o700, exist_ok=True)
            _write(target / name, content)
        # Last: a playbook exists when its text does.
        _write(target / FILE, text.encode())
        return playbook

    def remove(self, name: str) -> None:
        """Remove a playbook with its pictures.

        Raises:
            UnknownPlaybook: If there is none of that name.
        """
        self.text(name)
        shutil.rmtree(self._folder / name)

    def _entry(self, name: str) -> StoredPlaybook:
        try:
            return StoredPlaybook(name, self.load(name))
        except PlaybookError as error:
            return StoredPlaybook(name, None, str(error))


def _write(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
