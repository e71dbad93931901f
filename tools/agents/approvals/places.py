"""Directories of the machine on which a command would run, and which of them outlive it. Pure.

What a command does on a desktop with a user of its own ends with the desktop, but for its files in
some directories. On other machines everything stays.
"""

import posixpath
import re
from dataclasses import dataclass
from typing import Any

_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\})(?=/|$)")
_PATTERN = re.compile(r"[*?\[{$`]")


@dataclass(frozen=True)
class Places:
    """Directories of one machine; by default it is not known what ends with it."""

    workdir: str = ""
    """Absolute path of the directory in which commands run that name none."""
    home: str = ""
    lasting: tuple[str, ...] | None = None
    """Directories whose files outlive the desktop; None if all may."""

    def folder(self, requested: object) -> str:
        """Return the directory of a command; a relative one lies in the working directory."""
        path = self._path(requested, "") if isinstance(requested, str) else ""
        return path if path.startswith("/") else self.workdir

    def lasts(self, word: str, folder: str) -> bool:
        """Return whether a word of a command in ``folder`` names files that outlive the desktop.

        A word may be a pattern, or a directory above such files.
        """
        if self.lasting is None:
            return True
        path = self._path(word, folder)
        head = _PATTERN.split(path, maxsplit=1)[0]
        return any(
            _lies_in(path, one) or _lies_in(one, path) or (head != path and one.startswith(head))
            for one in self.lasting
        )

    def named_in(self, command: str) -> bool:
        """Return whether a command names a directory whose files outlive the desktop."""
        return self.lasting is None or any(one in command for one in self.lasting)

    def _path(self, word: str, folder: str) -> str:
        word = _HOME.sub(lambda _: self.home, word, count=1) if _HOME.match(word) else word
        return posixpath.normpath(posixpath.join(folder, word))


NOT_KNOWN = Places()
"""Places of a machine of which everything may stay."""


def places_of(answer: Any) -> Places:
    """Return the places that a desktop has answered; it is not known of an earlier version."""
    if not isinstance(answer, dict) or not isinstance(answer.get("lasting_dirs"), list):
        return NOT_KNOWN
    lasting = tuple(posixpath.normpath(str(one)) for one in answer["lasting_dirs"])
    return Places(str(answer.get("working_dir", "")), str(answer.get("home", "")), lasting)


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
