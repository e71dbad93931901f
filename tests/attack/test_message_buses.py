"""A program of the agent listens on the message buses of its desktop, or takes their place."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.desktop.isolation.bus_config import READER
from tests.attack.attackers import output
from tests.attack.test_imitated_page import library
from tests.system.services import Service, tidy

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the level is 'shared' here"),
]

TREE = "/api/v0/desktop/accessibility"
DRIVER = "--dest=org.freedesktop.DBus --print-reply /org/freedesktop/DBus org.freedesktop.DBus"
REGISTRY = "--dest=org.a11y.atspi.Registry --print-reply"
CONTROLLER = "/org/a11y/atspi/registry/deviceeventcontroller org.a11y.atspi.DeviceEventController"
EVERYTHING = "array:string: uint32:0"


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with tidy(tmp_path_factory.mktemp("buses") / "errors.log") as found:
        found.get(TREE)
        yield found


@pytest.fixture(scope="module")
def widgets(desktop: Service) -> str:
    """The option for the address of the AT-SPI bus."""
    call = "--dest=org.a11y.Bus --print-reply=literal /org/a11y/bus org.a11y.Bus.GetAddress"
    address = output(desktop, f"dbus-send --session {call}")
    assert address.startswith("unix:")
    return f"--bus={shlex.quote(address)}"


@pytest.mark.parametrize("bus", ["session", "widgets"])
def test_nobody_monitors_a_bus(desktop: Service, widgets: str, bus: str) -> None:
    option = widgets if bus == "widgets" else "--session"
    answer = output(desktop, f"dbus-send {option} {DRIVER}.Monitoring.BecomeMonitor {EVERYTHING}")
    assert "AccessDenied" in answer
    # The control: the bus answers others of its calls.
    assert 'string ":1.' in output(desktop, f"dbus-send {option} {DRIVER}.ListNames")


@pytest.mark.parametrize("what", ["Keystroke", "DeviceEvent"])
def test_nobody_registers_for_the_keys_of_others(desktop: Service, widgets: str, what: str) -> None:
    method = f"{CONTROLLER}.Register{what}Listener"
    # The registry answers arguments of another type too, if it gets the call.
    answer = output(desktop, f"dbus-send {widgets} {REGISTRY} {method} objpath:/listener")
    assert "AccessDenied" in answer
    # The control: applications ask it about keys, which costs them nothing.
    asked = output(desktop, f"dbus-send {widgets} {REGISTRY} {CONTROLLER}.NotifyListenersSync")
    assert "AccessDenied" not in asked


@pytest.mark.parametrize("method", ["WatchKeyboard", "GrabKeyboard", "SetKeyGrabs"])
def test_nobody_watches_the_keyboard_by_the_newer_interface(desktop: Service, method: str) -> None:
    call = f"/x org.freedesktop.a11y.KeyboardMonitor.{method}"
    # Also not on a bus on which a program offers it.
    answer = output(desktop, f"dbus-send --session --dest=org.a11y.Bus --print-reply {call}")
    assert "AccessDenied" in answer


def bus_pid(desktop: Service, option: str) -> int:
    call = f"{DRIVER}.GetConnectionUnixProcessID string:org.freedesktop.DBus"
    return int(output(desktop, f"dbus-send {option} {call}").split()[-1])


@pytest.mark.parametrize("bus", ["session", "widgets"])
def test_a_bus_cannot_be_ended_or_replaced(desktop: Service, widgets: str, bus: str) -> None:
    option = widgets if bus == "widgets" else "--session"
    pid = bus_pid(desktop, option)
    place = Path(output(desktop, "echo $DBUS_SESSION_BUS_ADDRESS").removeprefix("unix:path="))
    if bus == "widgets":
        place = place.parent / "at-spi" / "bus"
    assert "not permitted" in output(desktop, f"kill -9 {pid}")
    assert "ermission denied" in output(desktop, f"head -c 1 /proc/{pid}/mem")
    assert "ermission denied" in output(desktop, f"mv {place} {place}.old")
    assert bus_pid(desktop, option) == pid


@pytest.mark.parametrize(
    ("bus", "name"),
    [("session", "org.a11y.Bus"), ("widgets", "org.a11y.atspi.Registry"), ("widgets", READER)],
)
def test_nobody_takes_the_name_of_a_service_of_accessibility(
    desktop: Service, widgets: str, bus: str, name: str
) -> None:
    option = widgets if bus == "widgets" else "--session"
    replace = 2
    answer = output(
        desktop, f"dbus-send {option} {DRIVER}.RequestName string:{name} uint32:{replace}"
    )
    assert "AccessDenied" in answer


def test_a_service_of_the_agents_own_is_not_activated(desktop: Service) -> None:
    home = output(desktop, "echo $HOME")
    folder, loot = f"{home}/.local/share/dbus-1/services", f"{home}/loot"
    text = f"[D-BUS Service]\\nName=org.evil\\nExec=/usr/bin/touch {loot}\\n"
    output(desktop, f"mkdir -p {folder}; printf '{text}' > {folder}/org.evil.service")
    output(desktop, f"dbus-send --session {DRIVER}.ReloadConfig")
    start = f"dbus-send --session {DRIVER}.StartServiceByName string:org.evil uint32:0"
    assert "ServiceUnknown" in output(desktop, start)
    assert "No such file" in output(desktop, f"ls {loot}")


def test_nobody_changes_the_environment_of_what_a_bus_starts(desktop: Service) -> None:
    change = "UpdateActivationEnvironment dict:string:string:LD_PRELOAD,/tmp/evil.so"
    assert "AccessDenied" in output(desktop, f"dbus-send --session {DRIVER}.{change}")


def test_an_honest_program_activates_a_service_which_has_its_own_user(desktop: Service) -> None:
    key = "org.gnome.desktop.interface clock-format"
    output(desktop, f"gsettings set {key} 12h")
    # Another process reads it: the service has stored it in the agent's home.
    assert output(desktop, f"gsettings get {key}") == "'12h'"
    assert output(desktop, "ls ~/.config/dconf/user && stat -c %U ~/.config/dconf/user").endswith(
        output(desktop, "id -un")
    )
    call = f"{DRIVER}.GetConnectionUnixUser string:ca.desrt.dconf"
    user = output(desktop, f"dbus-send --session {call}").split()[-1]
    assert user == output(desktop, "id -u")


LISTENER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from jeepney import DBusAddress, HeaderFields, MessageType, message_bus, new_method_call
from jeepney.io.blocking import open_dbus_connection
def spoken(number):
    return DBusAddress(f"/spoken/{number}", bus_name=other.unique_name, interface="a.b")
address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
listener, speaker, other = (open_dbus_connection(address) for _ in range(3))
rule = "eavesdrop='true',type='method_call',interface='a.b'"
print(listener.send_and_get_reply(message_bus.AddMatch(rule)).header.message_type)
speaker.send(new_method_call(spoken(1), "C"))
while other.receive(timeout=60).header.message_type is not MessageType.method_call:
    pass
serial = next(listener.outgoing_serial)
listener.send(message_bus.GetId(), serial=serial)
# What was copied to the listener comes before the answer.
heard = False
while (got := listener.receive()).header.fields.get(HeaderFields.reply_serial) != serial:
    heard = heard or got.header.message_type is MessageType.method_call
print("heard" if heard else "silent")
"""


def test_nobody_gets_messages_to_others(desktop: Service) -> None:
    work = Path(output(desktop, "pwd"))
    for name, content in (("jeepney.zip", library()), ("listener.py", LISTENER.encode())):
        path = {"path": str(work / name)}
        desktop.http.post("/api/v0/write-file", params=path, content=content).raise_for_status()
    assert output(desktop, f"python3 {work}/listener.py {work}/jeepney.zip").endswith("silent")
