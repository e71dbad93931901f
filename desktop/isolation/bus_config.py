"""Configuration of the message buses of a desktop whose agent and browser have users of their own.

The daemons work as the service's user, so no program of the agent can change, trace or replace
them, and they let only their own user monitor or eavesdrop (dbus-daemon(1)). They activate what is
in two folders of the service, and take no environment from their clients. Nobody registers over
AT-SPI for the keys that others get. Their sockets lie in a directory that the users of the desktop
alone may enter, so the daemons admit all users.

On the bus of AT-SPI applications export their widgets to the service, and to nobody else: signals
of applications, which contain their texts, reach its user alone, and calls to the browser are
those of the service. Programs of the agent may call each other, as those do that put their windows
together from several processes.

The daemon of AT-SPI is started by a program that knows fixed places of its configuration, so the
desktop sees its own file there.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

SESSION_BUS = Path("run/session-bus.conf")
WIDGET_BUS = Path("run/widget-bus.conf")
"""Names in the directory of the desktop."""

WIDGET_PLACES = (
    Path("/etc/at-spi2/accessibility.conf"),
    Path("/usr/share/defaults/at-spi2/accessibility.conf"),
)
"""Files of the machine; of the second kind the first one that exists counts."""

_DRIVER = "org.freedesktop.DBus"
_REGISTRY = "org.a11y.atspi.Registry"
_KEYS = "org.a11y.atspi.DeviceEventController"
_NEW_KEYS = "org.freedesktop.a11y.KeyboardMonitor"
READER = "org.deskhand.Reader"
"""Name of the connections to the bus of AT-SPI that may call every application."""
_DENIED = (
    (_DRIVER, f"{_DRIVER}.Monitoring", "BecomeMonitor"),
    (_DRIVER, _DRIVER, "UpdateActivationEnvironment"),
    (_REGISTRY, _KEYS, "RegisterKeystrokeListener"),
    (_REGISTRY, _KEYS, "RegisterDeviceEventListener"),
    # It hides any application; the registry knows by itself which ones have ended.
    (_REGISTRY, "org.a11y.atspi.Socket", "Unembed"),
    *(("", _NEW_KEYS, one) for one in ("WatchKeyboard", "GrabKeyboard", "SetKeyGrabs")),
)
"""Destination, interface and name of methods that nobody may call. A rule without a destination
also refuses a message without an interface if the name is the same."""
_RECEIVED = ("method_call", "method_return", "error", "signal")
_SENDERS = {"method_call": (_REGISTRY, READER), "signal": (_REGISTRY, _DRIVER)}
"""Names whose owners alone may send messages of a type to applications on the bus of AT-SPI."""
_LIMITS = {
    **dict.fromkeys(("max_incoming_bytes", "max_outgoing_bytes", "max_message_size"), 16 << 20),
    "max_completed_connections": 1024,
    "max_connections_per_user": 512,
    "max_names_per_connection": 512,
    "max_match_rules_per_connection": 4096,
    "max_replies_per_connection": 50_000,
    "service_start_timeout": 25_000,
    "auth_timeout": 30_000,
}
"""Bytes, numbers and milliseconds, for each connection but the first two of the numbers."""
_READABLE = 0o644


class BusUsers(NamedTuple):
    """Users, each a name or a number."""

    owner: str
    """Runs the daemons."""
    agent: str


def bus_config(
    kind: str, services: Path, owner: str, names: Sequence[str], caller: str = ""
) -> str:
    """Return the text of a configuration.

    ``kind`` is the type of the bus, ``services`` the folder of the files of its services. Only the
    user ``owner``, a name or a number, may own ``names``. With ``caller`` applications hear and
    call nobody but the owner's programs, and those of this user call each other.
    """
    denied = (
        (f'send_destination="{to}" ' if to else "") + f'send_interface="{of}" send_member="{name}"'
        for to, of, name in _DENIED
    )
    owned = "".join(f'<deny own="{name}"/>' for name in names)
    of_owner = "".join(f'<allow own="{name}"/>' for name in names)
    received = "".join(f'<allow receive_type="{one}"/>' for one in _RECEIVED)
    policies = f'<policy user="{escape(owner)}">{of_owner}{received if caller else ""}</policy>'
    if caller:
        received += "".join(
            f'<deny receive_type="{type_}"/>'
            + "".join(f'<allow receive_type="{type_}" receive_sender="{one}"/>' for one in senders)
            for type_, senders in _SENDERS.items()
        )
        policies += f'<policy user="{escape(caller)}"><allow receive_type="method_call"/></policy>'
    return f"""<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
<type>{kind}</type>
<auth>EXTERNAL</auth>
<listen>unix:tmpdir=/tmp</listen>
<servicedir>{escape(str(services))}</servicedir>
<policy context="default">
<allow user="*"/><allow own="*"/>{owned}
<allow send_destination="*"/>
{received}
{"".join(f"<deny {one}/>" for one in denied)}
</policy>
{policies}
{"".join(f'<limit name="{name}">{limit}</limit>' for name, limit in _LIMITS.items())}
</busconfig>
"""


def widget_bus_configs(places: Sequence[Path] = WIDGET_PLACES) -> list[Path]:
    """Return the places at which the desktop has to see its own configuration."""
    return [place for place in places if place.is_file()]


def write_bus_config(folder: Path, users: BusUsers, session: Path, widgets: Path) -> None:
    """Write both configurations into the directory of a desktop.

    ``session`` and ``widgets`` are the folders of their services in that directory.
    """
    owner, agent = users
    for name, text in (
        (SESSION_BUS, bus_config("session", folder / session, owner, ["org.a11y.Bus"])),
        (
            WIDGET_BUS,
            bus_config("accessibility", folder / widgets, owner, [_REGISTRY, READER], agent),
        ),
    ):
        path = folder / name
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(_READABLE)
