"""An agent's programs try to read, control or enter the browser, which has a user of its own."""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.attack.attackers import output
from tests.attack.test_evidence import SCRIPT, Owned, folder_of
from tests.attack.test_private_take_over import browser_of, give_back, person_types
from tests.live_trees import kill_below, names_below
from tests.system.services import Service, service, until, x_display

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the level is 'shared' here"),
]

DATA = Path(__file__).parents[1] / "data"
WINDOWS = "/api/v0/desktop/windows"
MODULE = """
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void) {
    char name[64];
    snprintf(name, sizeof name, "/tmp/loaded-%d", getuid());
    umask(0);
    FILE *file = fopen(name, "w");
    if (file) fclose(file);
}
"""


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path / "errors.log", "desktop") as found:
        yield found


@pytest.fixture
def browser(desktop: Service) -> psutil.Process:
    """The main process of the desktop's browser, which shows a page that sets a cookie."""
    desktop.post("/api/v0/desktop/launch", {"name": "browser", "args": ["about:blank"]})
    until(lambda: "Chromium" in titles(desktop), "the browser")
    return browser_of(desktop)


def titles(desktop: Service) -> str:
    return " ".join(str(one["title"]) for one in desktop.get(WINDOWS)["windows"])


def write(desktop: Service, path: str, content: bytes) -> None:
    desktop.http.post(
        "/api/v0/write-file", params={"path": path}, content=content
    ).raise_for_status()


def test_nothing_of_the_browser_can_be_read_changed_or_ended(
    desktop: Service, browser: psutil.Process
) -> None:
    folder, user = folder_of(desktop), browser.uids().real
    assert user not in (Owned(desktop, folder).user, uid_of_agent(desktop))
    written = {"browser", "browser/Default/Cookies", "browser/Local State"}
    until(lambda: written <= Owned(desktop, folder, user).paths.keys(), "the browser's files")
    found = Owned(desktop, folder, user)
    # The main process, its zygotes, renderers and others.
    assert len(found.pids) >= 5
    script = folder / "work" / "attack.py"
    write(desktop, str(script), SCRIPT.read_bytes())
    attack = f"/usr/bin/python3 {script} {folder} {user}"
    printed = output(desktop, f"echo {shlex.quote(found.targets())} | {attack}")
    assert json.loads(printed) == []
    # The control: the same attacks as the browser's user.
    attacked = json.loads(as_user_of(browser, attack, found.targets()))
    succeeded = {(what, target) for what, target in attacked}
    assert {("read", name) for name in ("browser", "browser/Default/Cookies")} <= succeeded
    main = str(inside(browser))
    assert {(what, main) for what in ("signal", "environ", "maps", "mem", "ptrace")} <= succeeded


def uid_of_agent(desktop: Service) -> int:
    return int(output(desktop, "id -u"))


def inside(process: psutil.Process) -> int:
    """Return the pid that a process has in the namespace of its desktop."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("\nNSpid:")[2].split()[1])


def entered(process: psutil.Process) -> list[str]:
    """Return the words before a command that runs as the user of a process, in its namespaces."""
    user = str(process.uids().real)
    return [
        *("nsenter", "-t", str(process.pid), "-m", "-p", "--"),
        *("setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"),
    ]


def as_user_of(process: psutil.Process, command: str, given: str) -> str:
    text = SCRIPT.read_text()
    words = command.split()
    argv = [*entered(process), words[0], "-c", text, *words[2:]]
    return subprocess.run(argv, input=given, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow("two browsers")
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_module_of_the_agent_is_not_loaded_into_the_browser(desktop: Service) -> None:
    home = str(folder_of(desktop) / "home")
    write(desktop, f"{home}/module.c", MODULE.encode())
    write(desktop, f"{home}/xsettings.py", (DATA / "xsettings.py").read_bytes())
    assert output(desktop, "cd && cc -shared -fPIC -o module.so module.c") == ""
    body = {"command": f"exec /usr/bin/python3 ~/xsettings.py {home}/module.so"}
    settings = desktop.post("/api/v0/processes/start", {**body, "background": True})["id"]
    path = f"/api/v0/processes/{settings}/output"
    # Settings of an agent are none of the display.
    until(lambda: "False" in desktop.http.get(path).json()["output"], "the settings")
    with display_settings(desktop, f"{home}/module.so"):
        check_loaded_by_the_agent_only(desktop, home)


@contextmanager
def display_settings(desktop: Service, module: str) -> Iterator[None]:
    """Be the settings daemon of the display, as a trusted client."""
    display, authority = x_display(desktop)
    environment = {**os.environ, "DISPLAY": display, "XAUTHORITY": str(authority)}
    command = ["/usr/bin/python3", str(DATA / "xsettings.py"), module]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == "True\n"
        yield
        daemon.kill()


def check_loaded_by_the_agent_only(desktop: Service, home: str) -> None:
    desktop.post("/api/v0/desktop/launch", {"name": "browser", "args": ["about:blank"]})
    until(lambda: "Chromium" in titles(desktop), "the browser")
    # Its dialog is a window of GTK.
    desktop.act(action="key", text="ctrl+o")
    until(lambda: "Open File" in titles(desktop), "the dialog")
    assert output(desktop, "ls /tmp | grep loaded; true") == ""
    # The control: a browser of the agent's user loads it.
    command = f"exec chromium --user-data-dir={home}/profile --no-first-run about:blank"
    desktop.post("/api/v0/processes/start", {"command": command, "background": True})
    loaded = f"loaded-{uid_of_agent(desktop)}"
    until(lambda: output(desktop, "ls /tmp | grep loaded; true") == loaded, "the control")


def test_the_browsers_user_may_ask_the_service_only_to_open_something(
    desktop: Service, browser: psutil.Process
) -> None:
    folder = folder_of(desktop)
    write(desktop, f"{folder}/home/page.html", b"<title>of the agent</title>")
    output(desktop, "chmod 640 ~/page.html")
    request = [
        *("nsenter", "-t", str(browser.pid), "-m", "-p", "--"),
        *("setpriv", "--reuid", str(browser.uids().real), "--regid", str(uid_of_agent(desktop))),
        *("--clear-groups", "--", "/usr/bin/python3", "-I", "-S"),
        *(f"{folder}/share/deskhand-request.py", f"{folder}/run/agent.sock"),
    ]
    for words in (["terminal", "-e", "id"], ["status"], ["input", '{"action": "wait"}']):
        refused = subprocess.run([*request, *words], capture_output=True, text=True, check=False)
        assert (refused.returncode, "nothing else" in refused.stderr) == (126, True), refused
    with subprocess.Popen([*request, "open", f"file://{folder}/home/page.html"]):
        until(lambda: "of the agent" in titles(desktop), "the page")


@contextmanager
def child_of(process: psutil.Process) -> Iterator[psutil.Process]:
    """Run a program of the user of a process, which is not the browser, until the block ends."""
    argv = [*entered(process), "sleep", "1000"]
    with subprocess.Popen(argv) as started:
        try:
            parent = psutil.Process(started.pid)
            until(lambda: [*names_below(parent.pid).values()] == ["sleep"], "the program")
            yield parent.children()[0]
        finally:
            kill_below(started.pid)
            # It stops itself when its child is stopped.
            started.kill()


def test_other_programs_of_the_browsers_user_are_stopped_in_private(
    desktop: Service, browser: psutil.Process
) -> None:
    seen: list[str] = []

    def taken() -> None:
        # A process that got its signal stops before its next instruction.
        until(lambda: program.status() == psutil.STATUS_STOPPED, "the stop")
        seen.append(browser.status())

    with child_of(browser) as program:
        person_types(desktop, taken=taken)
        give_back(desktop)
        until(lambda: program.status() != psutil.STATUS_STOPPED, "the program")
    assert seen
    assert seen != [psutil.STATUS_STOPPED]
