"""Services that programs activate on a message bus of the service's user, as dconf.

What the machine has installed is activated as the agent's user: the bus executes a line that names
the service to this process, which starts the program. The bus itself starts the programs of AT-SPI
alone. Source: D-Bus specification, "Message Bus Starting Services".
"""

import configparser
import os
import re
import shlex
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from .session_files import SESSION_SERVICES, WIDGET_SERVICES

MACHINE = (Path("/usr/local/share/dbus-1/services"), Path("/usr/share/dbus-1/services"))
"""Folders of the machine; the first one that has a service counts."""
WIDGET_MACHINE = Path("/usr/share/dbus-1/accessibility-services/org.a11y.atspi.Registry.service")
ASKED = Path("run/service/activations")
"""The FIFO that receives the names, in the directory of the desktop."""

_NAME = re.compile(r"[A-Za-z_-][\w-]*(\.[A-Za-z_-][\w-]*)+", re.ASCII)
_OWN = "org.a11y.Bus"
_NOTHING = ("/bin/false", "/usr/bin/false")
"""Programs of services that only another service manager starts."""


def machine_services(folders: Iterable[Path] = MACHINE) -> dict[str, tuple[str, ...]]:
    """Return the command line of each service of the machine but AT-SPI, by its name."""
    found: dict[str, tuple[str, ...]] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.service")):
            parser = configparser.RawConfigParser(strict=False)
            with suppress(OSError, KeyError, ValueError, configparser.Error):
                parser.read_string(path.read_text())
                entry = parser["D-BUS Service"]
                words = tuple(shlex.split(entry["Exec"]))
                if words and words[0] not in _NOTHING and _NAME.fullmatch(entry["Name"]):
                    found.setdefault(entry["Name"], words)
    found.pop(_OWN, None)
    return found


class Activations:
    """Starts services that a bus asks for, while it is open; one thread waits for their names.

    ``start`` gets the command line of a service, and must not raise.
    """

    def __init__(
        self,
        folder: Path,
        start: Callable[[Sequence[str]], None],
        services: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._folder = folder
        self._start = start
        self._services = machine_services() if services is None else services
        self._fifo = -1
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="activations", daemon=True)

    def open(self) -> None:
        """Write the files of the services, for a bus that starts afterwards, and begin to wait."""
        place = self._folder / ASKED
        place.unlink(missing_ok=True)
        os.mkfifo(place, 0o600)
        session, widgets = self._folder / SESSION_SERVICES, self._folder / WIDGET_SERVICES
        for folder in (session, widgets):
            folder.mkdir(parents=True, exist_ok=True)
        for name in self._services:
            line = shlex.join(("/bin/sh", "-c", f"echo {name} > {shlex.quote(str(place))}"))
            text = f"[D-BUS Service]\nName={name}\nExec={line}\n"
            (session / f"{name}.service").write_text(text)
        # A machine without it has no tree of widgets.
        with suppress(OSError):
            (widgets / WIDGET_MACHINE.name).write_bytes(WIDGET_MACHINE.read_bytes())
        # For both ends, so that it never ends.
        self._fifo = os.open(place, os.O_RDWR | os.O_CLOEXEC)
        self._thread.start()

    def close(self) -> None:
        """End the thread; twice is fine."""
        if self._fifo < 0:
            return
        self._closing = True
        os.write(self._fifo, b"\n")
        self._thread.join()
        os.close(self._fifo)
        self._fifo = -1

    def _run(self) -> None:
        with open(self._fifo, "rb", closefd=False) as names:
            for name in names:
                if self._closing:
                    return
                words = self._services.get(name.decode("ascii", "replace").strip())
                if words is not None:
                    self._start(words)
