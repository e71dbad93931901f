"""Programs that an agent left behind, while a person types in private."""

import asyncio
import shlex
import struct
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path

import psutil
import pytest
from PIL import Image
from websockets.asyncio.client import ClientConnection, connect

from tests.live_trees import commands_below, paths_below
from tests.system.gated_model import (
    COLOURS,
    gated_model,
    painted_report,
    painting,
    plane_of,
)
from tests.system.services import Service, service, until
from tests.system.typing_targets import TextArea, text_area
from tests.system.watching import handshake, played, stream, ticket
from tests.vncbridge.rfb.client_messages import encodings, key, pointer

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]


LEASE = "/api/v0/desktop/lease"
SPY = Path(__file__).parents[1] / "data" / "spy.py"
GRABBER = SPY.with_name("grabber.py")
UNSTOPPABLE = SPY.with_name("unstoppable.py")
SECRET = "S3cret"
RETURN = 0xFF0D
"""Keysym of the Return key."""
KEY_SECONDS = 0.09
"""Interval of a fast typist."""
PANEL_TERMINAL = (70, 1056)
"""The terminal's icon in the panel, in native pixels."""
PANEL_CORNER = (1276, 700)
"""A point of the panel without an icon, in pixels of a screenshot."""
PANEL_COLOUR = (0x18, 0x21, 0x2C)
"""Background of the panel in ``tint2rc``."""


class Spies:
    """Programs of the agent that write down what they see."""

    def __init__(self, desktop: Service) -> None:
        self._desktop = desktop
        self.home = Path(output(desktop, "echo $HOME").strip())
        self.program = self.home / "spy.py"
        desktop.http.post(
            "/api/v0/write-file", params={"path": str(self.program)}, content=SPY.read_bytes()
        ).raise_for_status()

    def command(self, name: str, mode: str) -> str:
        """Return the command that starts a spy."""
        return f"python3 {self.program} {self.file(name)} {mode}"

    def file(self, name: str) -> Path:
        return self.home / f"seen-{name}"

    def started(self, name: str, mode: str = "all") -> "Spies":
        """Start a spy as a command, and wait until it watches."""
        body = {"command": f"exec {self.command(name, mode)}", "background": True}
        self._desktop.post("/api/v0/processes/start", body)
        self.wait_ready(name)
        return self

    def wait_ready(self, name: str) -> None:
        until(lambda: "ready" in self.lines(name), f"the spy {name}")

    def lines(self, name: str) -> list[str]:
        file = self.file(name)
        return file.read_text().splitlines() if file.exists() else []

    def wait_alive(self, name: str, seen: int) -> None:
        """Wait until a spy has read its events after it had written ``seen`` lines."""
        until(lambda: self.lines(name)[seen:].count("alive") >= 3, f"a sign of life of {name}")


def output(desktop: Service, command: str) -> str:
    started = desktop.post("/api/v0/processes/start", {"command": command})
    path = f"/api/v0/processes/{started['id']}/output"
    found: str = desktop.http.get(path, params={"wait_for": "exit"}).json()["output"]
    return found


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path / "errors.log", "desktop") as found:
        yield found


async def typed(socket: ClientConnection, text: str) -> None:
    for character in text:
        symbol = RETURN if character == "\n" else ord(character)
        await socket.send(key(symbol))
        await asyncio.sleep(KEY_SECONDS / 2)
        await socket.send(key(symbol, down=False))
        await asyncio.sleep(KEY_SECONDS / 2)


async def clicked(socket: ClientConnection, x: int, y: int) -> None:
    await socket.send(pointer(0, x, y) + pointer(1, x, y) + pointer(0, x, y))


@asynccontextmanager
async def in_private(desktop: Service) -> AsyncIterator[ClientConnection]:
    """Take control in private as a viewer's page does; yield its stream."""
    address = stream(desktop, ticket=ticket(desktop, "control"), viewer="ann")
    async with connect(address) as socket:
        await handshake(socket)
        await socket.send(encodings(0))
        body = {"action": "take", "name": "Ann", "viewer": "ann"}
        state = await asyncio.to_thread(desktop.post, LEASE, body)
        assert state["granted"]
        assert state["private"]
        yield socket


def person_types(
    desktop: Service,
    text: str = SECRET,
    *,
    panel: bool = False,
    taken: Callable[[], None] = lambda: None,
) -> None:
    """Take control in private as a viewer's page does, type, and keep control.

    ``taken`` is called when the person has control.
    """

    async def act() -> None:
        async with in_private(desktop) as socket:
            taken()
            if panel:
                await clicked(socket, *PANEL_TERMINAL)
                # The shell of the new terminal is the first program that is stopped.
                await asyncio.to_thread(until, lambda: stopped_count(desktop), "the new terminal")
            await typed(socket, text)
            # The service has passed all keys on when it answers a request for the state.
            await asyncio.to_thread(desktop.get, LEASE)

    played(act())


def stopped_count(desktop: Service) -> int:
    found: int = desktop.get(LEASE)["stopped"]["count"]
    return found


def keys_pass(desktop: Service) -> bool:
    found: bool = desktop.get(LEASE)["stopped"]["keys_pass"]
    return found


def give_back(desktop: Service) -> None:
    desktop.post(LEASE, {"action": "release", "viewer": "ann"})


def seen(lines: list[str]) -> list[str]:
    return [line for line in lines if line == "image" or line.startswith("key ")]


def in_terminal(desktop: Service, spies: Spies) -> None:
    desktop.post("/api/v0/desktop/launch", {"name": "terminal"})
    until(lambda: "Terminal" in focused(desktop), "the terminal's focus")
    desktop.act(action="type", text=spies.command("terminal", "all") + "\n")
    spies.wait_ready("terminal")


def wait_for_panel(desktop: Service) -> None:
    """Wait until the panel is painted: a desktop is ready as soon as windows may be opened."""

    def painted() -> bool:
        answer = desktop.http.get("/api/v0/desktop/screenshot")
        with Image.open(BytesIO(answer.content)) as shown:
            return shown.convert("RGB").getpixel(PANEL_CORNER) == PANEL_COLOUR

    until(painted, "the panel")


def focused(desktop: Service) -> str:
    windows = desktop.get("/api/v0/desktop/windows")["windows"]
    return str(next((one["title"] for one in windows if one["focused"]), ""))


def under_browser(desktop: Service, spies: Spies) -> None:
    """Have a browser start a spy as its child; the desktop's own browser does not."""
    prefix = spies.home / "host"
    script = f'#!/bin/sh\n{spies.command("browser", "all")} &\nexec "$@"\n'
    desktop.http.post(
        "/api/v0/write-file", params={"path": str(prefix)}, content=script.encode()
    ).raise_for_status()
    output(desktop, f"chmod 700 {prefix}")
    arguments = f"--utility-cmd-prefix={prefix} about:blank"
    assert "not started with --utility-cmd-prefix" in output(desktop, f"browser {arguments} 2>&1")
    assert not spies.file("browser").exists()
    # The control: the same program takes the switch, with the rights of the agent's commands.
    command = f"exec chromium --user-data-dir={spies.home}/profile {arguments}"
    desktop.post("/api/v0/processes/start", {"command": command, "background": True})
    spies.wait_ready("browser")


@pytest.fixture
def area(desktop: Service) -> Iterator[TextArea]:
    with text_area(desktop) as found:
        yield found


def check_blind(desktop: Service, spies: Spies, names: list[str]) -> None:
    """Have a person type in private; no spy may learn anything, then or after the hand-back."""
    lengths: dict[str, int] = {}
    person_types(
        desktop, taken=lambda: lengths.update({name: len(spies.lines(name)) for name in names})
    )
    during = {name: seen(spies.lines(name)[lengths[name] :]) for name in names}
    lengths = {name: len(spies.lines(name)) for name in names}
    give_back(desktop)
    for name in names:
        spies.wait_alive(name, lengths[name])
    after = {
        # The screen may be seen again.
        name: [line for line in seen(spies.lines(name)[lengths[name] :]) if line != "image"]
        for name in names
    }
    assert (during, after) == ({name: [] for name in names}, {name: [] for name in names})


def spies_in(desktop: Service, place: str) -> Spies:
    """Start a spy in one of the `PLACES`, and wait until it watches."""
    spies = Spies(desktop)
    if place == "terminal":
        in_terminal(desktop, spies)
    elif place == "browser":
        under_browser(desktop, spies)
    else:
        spies.started(place, "all" if place == "command" else place)
    return spies


PLACES = ("command", "window", "tray", "terminal", "browser")


@pytest.mark.parametrize("place", PLACES)
def test_a_spy_that_was_started_before_learns_nothing(desktop: Service, place: str) -> None:
    check_blind(desktop, spies_in(desktop, place), [place])


@pytest.mark.slow("a browser, and a person who types")
@pytest.mark.parametrize("mode", ["all", "windows"])
def test_control_where_agent_and_service_are_one_user_the_spies_see_screen_and_keys(
    tmp_path: Path, mode: str
) -> None:
    with (
        service(tmp_path / "errors.log", "desktop", "--user", "daemon") as desktop,
        text_area(desktop) as area,
    ):
        spies = Spies(desktop).started(mode, mode)
        person_types(desktop)

        def learned() -> bool:
            found = seen(spies.lines(mode))
            keys = [line.removeprefix("key ") for line in found if line.startswith("key ")]
            return "image" in found and {key.casefold() for key in keys} >= set(SECRET.casefold())

        until(learned, "the keys and the screen in what the spy writes")
        give_back(desktop)
        assert area.held() == SECRET


def test_a_spy_that_is_started_by_the_persons_own_terminal_learns_nothing(
    desktop: Service,
) -> None:
    spies = Spies(desktop)
    script = f"{spies.command('shell', 'all')} &\n"
    desktop.http.post(
        "/api/v0/write-file",
        params={"path": str(spies.home / ".bashrc")},
        content=script.encode(),
    ).raise_for_status()
    wait_for_panel(desktop)
    person_types(desktop, panel=True)
    assert seen(spies.lines("shell")) == []
    give_back(desktop)
    spies.wait_ready("shell")
    spies.wait_alive("shell", len(spies.lines("shell")))
    assert [line for line in seen(spies.lines("shell")) if line != "image"] == []


DISGUISES = {
    # In a mount namespace of its own the program has the path of one that goes on.
    "message bus": (
        "exec unshare -Urm sh -c 'mount --bind /usr/bin/python3 /usr/bin/dbus-daemon"
        " && exec setsid -f /usr/bin/dbus-daemon {arguments}'"
    ),
    "browser": (
        "cp /usr/bin/python3 ~/chromium; exec ~/chromium {arguments} --user-data-dir={browser}"
    ),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_a_program_in_the_disguise_of_one_that_goes_on_is_stopped(
    desktop: Service, name: str
) -> None:
    spies = Spies(desktop)
    arguments = f"{spies.program} {spies.file('disguised')} all"
    command = DISGUISES[name].format(arguments=arguments, browser=spies.home.parent / "browser")
    desktop.post("/api/v0/processes/start", {"command": command, "background": True})
    spies.wait_ready("disguised")
    lengths: list[int] = []
    person_types(desktop, taken=lambda: lengths.append(len(spies.lines("disguised"))))
    assert len(spies.lines("disguised")) == lengths[0]
    give_back(desktop)
    # The control: it is the stop that kept it from writing.
    spies.wait_alive("disguised", lengths[0])


PRELOADED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void spy(void) {
    FILE *notes = fopen(getenv("NOTES"), "a");
    setlinebuf(notes);
    for (fputs("ready\n", notes); ; usleep(50000)) fputs("alive\n", notes);
}
"""


def test_a_library_in_a_message_bus_of_the_agents_own_is_stopped(
    desktop: Service, tmp_path: Path
) -> None:
    spies = Spies(desktop)
    source, library = tmp_path / "spy.c", tmp_path / "spy.so"
    source.write_text(PRELOADED)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    place = spies.home / "spy.so"
    desktop.http.post(
        "/api/v0/write-file", params={"path": str(place)}, content=library.read_bytes()
    ).raise_for_status()
    variables = f"NOTES={spies.file('preloaded')} LD_PRELOAD={place}"
    # From a terminal, whose programs are in no control group that is stopped as a whole.
    desktop.post("/api/v0/desktop/launch", {"name": "terminal"})
    until(lambda: "Terminal" in focused(desktop), "the terminal's focus")
    command = f"setsid -f env {variables} /usr/bin/dbus-daemon --session &\n"
    desktop.act(action="type", text=command)
    spies.wait_ready("preloaded")
    lengths: list[int] = []
    person_types(desktop, taken=lambda: lengths.append(len(spies.lines("preloaded"))))
    assert len(spies.lines("preloaded")) == lengths[0]
    give_back(desktop)
    # The control: it is the stop that kept it from writing.
    spies.wait_alive("preloaded", lengths[0])


def test_a_command_during_a_private_session_is_refused(desktop: Service) -> None:
    person_types(desktop, "")
    body = {"command": "true"}
    answer = desktop.post("/api/v0/processes/start", body, status=409)
    assert answer["code"] == "human_in_control"
    give_back(desktop)
    desktop.post("/api/v0/processes/start", body)


def test_an_agent_waits_with_its_command_for_the_end_of_a_private_session(tmp_path: Path) -> None:
    steps = [
        painting(COLOURS[0]),
        {"calls": [{"execute": {"command": "echo built"}}]},
        painted_report(),
    ]
    with gated_model(steps, 1) as model, plane_of(tmp_path, model, "plane") as plane:
        chat = plane.tool("spawn_computer_use_agent", prompt="Build.")["chat_id"]
        path = f"/api/v0/chats/{chat}"
        model.gates[1].wait()
        lease = f"/api/v0/desktops/{plane.get(path)['desktop_id']}/desktop/lease"
        assert plane.post(lease, {"action": "take", "name": "Ann", "viewer": "ann"})["private"]
        model.gates[1].open()
        found = until(lambda: plane.get(path)["waiting_for"], "the wait")
        assert found["kind"] == "human_in_control"
        plane.post(lease, {"action": "release", "viewer": "ann"})
        ended = plane.tool("wait_agent", chat_id=chat, timeout_seconds=90)
        assert ended["outcome"] == "done"
        messages = str(plane.get(f"{path}/messages"))
        assert "Ann was in control of this desktop" in messages
        assert '"output": "built' in messages


@pytest.mark.parametrize("way", ["", "pass", "exhaust", "server"])
def test_a_program_that_has_grabbed_the_keyboard_gets_no_key(
    desktop: Service, area: TextArea, way: str
) -> None:
    spies = Spies(desktop)
    program, notes = spies.home / "grabber.py", spies.home / "grabbed"
    desktop.http.post(
        "/api/v0/write-file", params={"path": str(program)}, content=GRABBER.read_bytes()
    ).raise_for_status()
    body = {"command": f"exec python3 {program} {notes} {way}", "background": True}
    started = desktop.post("/api/v0/processes/start", body)["id"]
    until(lambda: notes.exists() and "grabbed" in notes.read_text(), "the grab")
    # The control: it gets what the agent types, and the page does not.
    desktop.act(action="type", text="control")
    until(lambda: notes.read_text().count("key") == len("control"), "the keys of the control")
    if way == "server":
        output(desktop, f"touch {notes}.go")
    if way in ("exhaust", "server"):
        until(lambda: "alone" in notes.read_text(), "the display of one client")
    keys_passed: list[bool] = []
    person_types(desktop, taken=lambda: keys_passed.append(keys_pass(desktop)))
    assert keys_passed == [False]
    give_back(desktop)
    # An honest program with an open menu is not ended.
    if way != "pass":
        assert desktop.get(f"/api/v0/processes/{started}/output")["running"]
    output(desktop, "pkill -9 -f [g]rabber.py")
    person_types(desktop, taken=lambda: until(lambda: keys_pass(desktop), "keys that pass"))
    give_back(desktop)
    assert area.held() == SECRET
    assert notes.read_text().count("key") == len("control")


def test_no_key_is_passed_on_while_the_x_server_does_not_answer_or_starts_again(
    desktop: Service,
) -> None:
    person_types(desktop, "", taken=lambda: until(lambda: keys_pass(desktop), "keys that pass"))
    pid = desktop.get("/api/v0/desktop")["xserver"]["pid"]
    server = psutil.Process(pid)
    server.suspend()
    until(lambda: not keys_pass(desktop), "keys that do not pass")
    server.kill()
    until(lambda: keys_pass(desktop), "keys that pass again")
    assert desktop.get("/api/v0/desktop")["xserver"]["pid"] not in (None, pid)
    give_back(desktop)


def test_a_program_that_continues_itself_stays_stopped(desktop: Service) -> None:
    spies = Spies(desktop)
    program, counted = spies.home / "unstoppable.py", spies.home / "counted"
    desktop.http.post(
        "/api/v0/write-file", params={"path": str(program)}, content=UNSTOPPABLE.read_bytes()
    ).raise_for_status()
    command = f"exec python3 {program} {counted}"
    desktop.post("/api/v0/processes/start", {"command": command, "background": True})
    until(lambda: counted.exists() and counted.stat().st_size > 10, "the program")
    sizes: list[int] = []
    person_types(desktop, taken=lambda: sizes.append(counted.stat().st_size))
    sizes.append(counted.stat().st_size)
    assert desktop.get(LEASE)["stopped"] == {"count": 1, "not_stopped": [], "keys_pass": True}
    give_back(desktop)
    assert sizes[0] == sizes[1]
    until(lambda: counted.stat().st_size > sizes[1], "the program, which continues")


def test_a_build_that_was_stopped_continues_and_finishes(desktop: Service) -> None:
    script = "i=0; while [ $i -lt 400 ]; do i=$((i+1)); sleep 0.005; done; echo built"
    started = desktop.post("/api/v0/processes/start", {"command": script, "background": True})
    person_types(desktop)
    assert desktop.get(LEASE)["stopped"]["count"] > 0
    assert desktop.get(LEASE)["stopped"]["not_stopped"] == []
    give_back(desktop)
    path = f"/api/v0/processes/{started['id']}/output"
    ended = desktop.http.get(path, params={"wait_for": "exit"}).json()
    assert (ended["exit_code"], ended["output"]) == (0, "built\n")
    last = desktop.get(LEASE)["last"]
    assert last["stopped"]["count"] > 0
    assert 0 < last["stopped"]["seconds"] <= last["seconds"]


def test_the_browser_goes_on_in_private(desktop: Service, area: TextArea) -> None:
    person_types(desktop, SECRET)
    give_back(desktop)
    # The page would answer after the hand-back too: it must have got the keys before.
    assert area.held() == SECRET


def search_for(cookie: bytes, folder: Path) -> str:
    """Return a program that searches all that its user can read for a cookie."""
    # Not every directory can be listed by that user.
    paths = [str(path) for path in paths_below(folder) if path.is_file()]
    return f"""
import os, re
cookie = bytes.fromhex({cookie.hex()!r})
found = []
def check(name, data):
    if cookie in data: found.append(name)
paths = {paths!r}
for top in ("/tmp", "/run", "/dev/shm"):
    for folder, _, names in os.walk(top):
        paths += [os.path.join(folder, name) for name in names]
for path in paths:
    try:
        if os.path.isfile(path): check(path, open(path, "rb").read(1 << 22))
    except OSError: pass
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid(): continue
    try:
        check(f"{{pid}} environ", open(f"/proc/{{pid}}/environ", "rb").read())
        memory = open(f"/proc/{{pid}}/mem", "rb", 0)
        for line in open(f"/proc/{{pid}}/maps"):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if "r" in line.split()[1] and end - start < 1 << 27:
                try:
                    memory.seek(start); check(f"{{pid}} memory", memory.read(end - start))
                except (OSError, ValueError, OverflowError): pass
    except OSError: pass
print("found", *sorted(set(found)), sep="\\n")
"""


def readable_cookies(desktop: Service, cookie: bytes) -> list[str]:
    """Search all that the agent can read for a cookie."""
    script = search_for(cookie, folder_of(desktop))
    return found_in(output(desktop, f"python3 -c {shlex.quote(script)}"))


def readable_by(user: psutil.Process, desktop: Service, cookie: bytes) -> list[str]:
    """Search all that the user of a process can read for a cookie."""
    groups = ",".join(map(str, supplementary(user)))
    ended = subprocess.run(
        [
            *("nsenter", "-t", str(user.pid), "-m", "-p", "--"),
            *("setpriv", f"--reuid={user.uids().real}", f"--regid={user.gids().real}"),
            *(f"--groups={groups}", "--", "/usr/bin/python3", "-"),
        ],
        input=search_for(cookie, folder_of(desktop)),
        capture_output=True,
        text=True,
        check=True,
    )
    return found_in(ended.stdout)


def supplementary(process: psutil.Process) -> list[int]:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return [int(one) for one in status.partition("\nGroups:")[2].partition("\n")[0].split()]


def browser_of(desktop: Service) -> psutil.Process:
    """Return the main process of the desktop's browser."""
    profile = f"--user-data-dir={folder_of(desktop)}/browser"
    for process, line in commands_below(desktop.process.pid).items():
        if profile in " ".join(line):
            return process
    raise AssertionError("the desktop has no browser")


def found_in(printed: str) -> list[str]:
    lines = printed.splitlines()
    assert lines[:1] == ["found"], lines
    return lines[1:]


def hold_in_memory(desktop: Service) -> None:
    """Start a command that has the agent's cookie in its memory."""
    script = "import os, sys; held = open(os.environ['XAUTHORITY'], 'rb').read(); print('held'); "
    script += "sys.stdout.flush(); os.kill(os.getpid(), 19)"
    body = {"command": f"exec python3 -c {shlex.quote(script)}", "background": True}
    path = f"/api/v0/processes/{desktop.post('/api/v0/processes/start', body)['id']}/output"
    until(lambda: "held" in desktop.http.get(path).json()["output"], "the cookie in memory")


def cookie_in(file: Path) -> bytes:
    data, at, fields = file.read_bytes(), 2, []
    for _ in range(4):
        (length,) = struct.unpack_from(">H", data, at)
        fields.append(data[at + 2 : at + 2 + length])
        at += 2 + length
    return fields[3]


def folder_of(desktop: Service) -> Path:
    return Path(output(desktop, "dirname $HOME").strip())


@pytest.mark.slow("all memory of a browser is read")
def test_the_trusted_cookie_is_nowhere_that_the_agent_can_read(desktop: Service) -> None:
    desktop.post("/api/v0/processes/start", {"command": "exec browser about:blank"})
    until(lambda: "Chromium" in focused(desktop), "the browser")
    folder = folder_of(desktop)
    trusted = cookie_in(folder / "run" / "service" / "Xauthority")
    others = cookie_in(folder / "run" / "display" / "Xauthority")
    # The control: the same search finds the cookie that the agent has, in a file and in memory.
    hold_in_memory(desktop)
    found = readable_cookies(desktop, others)
    assert str(folder / "run" / "display" / "Xauthority") in found
    assert [one for one in found if one.endswith(" memory")]
    assert readable_cookies(desktop, trusted) == []
    # A program that controls the browser can have it open, and send, what its user can read.
    browser = browser_of(desktop)
    assert readable_by(browser, desktop, others)
    assert readable_by(browser, desktop, trusted) == []


def test_a_spy_with_a_cookie_that_other_processes_name_learns_nothing(desktop: Service) -> None:
    spies = Spies(desktop).started("stolen", "stolen")
    check_blind(desktop, spies, ["stolen"])


def test_a_spy_that_selects_the_keys_of_all_windows_learns_nothing(
    desktop: Service, area: TextArea
) -> None:
    spies = Spies(desktop).started("windows", "windows")
    check_blind(desktop, spies, ["windows"])
    assert area.held() == SECRET
