"""Configuration of the desktop's message buses, which other users than their own may use too.

A bus admits only its own user if nothing else is configured (dbus-daemon(1), policy). The buses of
a desktop run as the agent's user, and the browser's user exports its widgets on one of them. Their
sockets lie in a directory that only these two may enter, so the daemons admit all users.

The daemon of AT-SPI is started by a program that knows fixed places of its configuration, so the
desktop sees its own file there.
"""

from collections.abc import Sequence
from pathlib import Path

SESSION_BUS = Path("run/session-bus.conf")
WIDGET_BUS = Path("run/widget-bus.conf")
"""Names in the directory of the desktop."""

SESSION_DEFAULT = Path("/usr/share/dbus-1/session.conf")
WIDGET_PLACES = (
    Path("/etc/at-spi2/accessibility.conf"),
    Path("/usr/share/defaults/at-spi2/accessibility.conf"),
)
"""Files of the machine; of the second kind the first one that exists counts."""

_END = "</busconfig>"
_ADMISSION = '<policy context="mandatory"><allow user="*"/></policy>'
_READABLE = 0o644


def open_to_all(config: str) -> str:
    """Return the text of a configuration whose daemon admits all users."""
    before, end, after = config.rpartition(_END)
    return f"{before}{_ADMISSION}\n{end}{after}" if end else config


def widget_bus_configs(places: Sequence[Path] = WIDGET_PLACES) -> list[Path]:
    """Return the places at which the desktop has to see its own configuration."""
    return [place for place in places if place.is_file()]


def write_bus_config(
    folder: Path, session: Path = SESSION_DEFAULT, widgets: Sequence[Path] = WIDGET_PLACES
) -> None:
    """Write the configurations into the directory of a desktop, from those of the machine.

    One that the machine does not have is left out: then its bus does not start anyway.
    """
    for name, source in (
        (SESSION_BUS, session),
        *((WIDGET_BUS, place) for place in widget_bus_configs(widgets)[:1]),
    ):
        path = folder / name
        path.unlink(missing_ok=True)
        if source.is_file():
            path.write_text(open_to_all(source.read_text()))
            path.chmod(_READABLE)
