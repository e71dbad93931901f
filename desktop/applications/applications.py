"""Applications of one desktop, found by name, by media type or by URL scheme."""

import mimetypes
import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from deskhand.desktop.errors import InvalidAction, NothingSuch
from deskhand.desktop.fields import at_home

from .desktop_entry import DesktopEntry, entry

SCHEMES = ("http", "https", "file", "about")
BROWSER, TERMINAL = "browser", "terminal"

# Media types that Chromium displays itself instead of downloading them.
_SHOWN = re.compile(r"text/.*|image/(png|jpeg|gif|webp|svg\+xml|bmp|avif|x-icon)|video/(mp4|webm)")
_SHOWN_TOO = ("application/pdf", "application/json", "application/xml", "application/xhtml+xml")


@dataclass(frozen=True)
class PathKind:
    """Facts about a path, for the user that applications run as."""

    readable: bool
    is_dir: bool


def own_kind(path: Path) -> PathKind:
    """Return the facts about a path for the present user. Blocks."""
    return PathKind(os.access(path, os.R_OK), path.is_dir())


class InstalledApplications:
    """Finds applications; ``environment`` returns the one that they start with.

    ``kind_of`` returns the facts about a path for the user that they run as; it may block.
    """

    def __init__(
        self,
        environment: Callable[[], Mapping[str, str]],
        kind_of: Callable[[Path], PathKind] = own_kind,
    ) -> None:
        self._environment = environment
        self._kind_of = kind_of

    def all(self) -> dict[str, DesktopEntry]:
        """Return the installed applications by the name that launches them."""
        found = {}
        for name in (BROWSER, TERMINAL):
            if self._program(name):
                found[name] = DesktopEntry(name, name.capitalize(), (name,))
        for folder in self._environment().get("XDG_DATA_DIRS", "").split(":"):
            for path in sorted(Path(folder, "applications").glob("*.desktop")):
                one = self._read(path)
                # The session's own entries start the browser and the terminal, which are listed
                # above.
                if one is not None and not one.id.startswith("deskhand-"):
                    # Of equal ids the first directory's entry counts (XDG Base Directory
                    # Specification).
                    found.setdefault(one.id.lower(), one)
        return found

    def by_name(self, name: str, arguments: tuple[str, ...]) -> str:
        """Return the command line of an application, found by its id or its display name.

        Raises:
            NothingSuch: If no application has that name.
        """
        known = self.all()
        wanted = name.lower()
        shown = (one for one in known.values() if one.name.lower() == wanted)
        found = known.get(wanted) or next(shown, None)
        if found is None:
            listed = ", ".join(sorted(known)) or "none"
            raise NothingSuch(f"Unknown application: {name}", f"there are {listed}")
        start = (TERMINAL, "-e") if found.terminal else ()
        return shlex.join((*start, *found.argv, *arguments))

    def by_command(self, command: str, arguments: tuple[str, ...]) -> str:
        """Return a command line with its arguments.

        Raises:
            InvalidAction: If a quote is not closed.
            NothingSuch: If there is no such program.
        """
        try:
            argv = shlex.split(command)
        except ValueError as error:
            raise InvalidAction('"command" is no command line.', str(error)) from error
        if not argv:
            raise InvalidAction('"command" is empty.')
        if self._program(argv[0]) is None:
            listed = ", ".join(sorted(self.all())) or "none"
            raise NothingSuch(
                f"Unknown program: {argv[0]}",
                f"it is not on the desktop's PATH; applications by name: {listed}",
            )
        # A shell runs the command line, so the command keeps its own quotes and only arguments get
        # new ones.
        return f"{command} {shlex.join(arguments)}".strip()

    def opening_url(self, url: str) -> str:
        """Return the command line that shows a URL.

        Raises:
            InvalidAction: If the browser does not support its scheme.
        """
        scheme = urlsplit(url).scheme.lower()
        if scheme not in SCHEMES:
            raise InvalidAction(
                f"Cannot open {url[:200]!r}.", f"addresses begin with {', '.join(SCHEMES)}"
            )
        return self.by_name(BROWSER, (url,))

    def opening_path(self, path: str) -> str:
        """Return the command line that shows a file or a folder.

        Raises:
            NothingSuch: If there is no such file, or no application for its media type.
        """
        home = self._environment().get("HOME", "/")
        file = Path(home, at_home(path, home))
        found = self._kind_of(file)
        if not found.readable:
            raise NothingSuch(f"No such file: {path}", f"{file} is missing, or not ours to read")
        kind = mimetypes.guess_type(file.name)[0] or ""
        known = self.all()
        opener = next((one for one in known.values() if kind and kind in one.types), None)
        # The browser is preferred: it is always there and shows a file without side effects.
        shown = found.is_dir or not kind or _SHOWN.fullmatch(kind) or kind in _SHOWN_TOO
        if shown and BROWSER in known:
            return self.by_name(BROWSER, (file.as_uri(),))
        if opener is not None:
            return self.by_name(opener.id, (str(file),))
        listed = ", ".join(sorted(known)) or "none"
        raise NothingSuch(f"Nothing opens {path}", f"it is {kind}; applications: {listed}")

    def _read(self, path: Path) -> DesktopEntry | None:
        try:
            one = entry(path.stem, path.read_text(errors="replace"))
        except OSError:
            return None
        if one is None or self._program(one.try_exec or one.argv[0]) is None:
            return None
        return one

    def _program(self, name: str) -> str | None:
        return shutil.which(name, path=self._environment().get("PATH", ""))
