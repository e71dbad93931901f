"""A person enters a password in private; programs of the agent listen in every way at once."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Empty

import pytest

from tests.attack.attackers import output
from tests.attack.test_private_take_over import SECRET, SPY, Spies, focused, give_back, person_types
from tests.attack.widget_spies import Listeners, WidgetSpies
from tests.system.reporting_page import reporting_page
from tests.system.services import PATIENCE, Service, tidy, until, x_display
from tests.system.typing_targets import install, keyboard_of

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

DATA = SPY.parent
PAGE = b"""<!doctype html><title>password</title><input type=password autofocus><script>
const field = document.querySelector("input");
field.onkeydown = (event) => {
  if (event.key === "Enter") fetch("/typed", {method: "POST", body: field.value});
};
onload = () => { field.focus(); fetch("/ready", {method: "POST"}); };
</script>"""

Entered = Callable[[], str]
"""Returns the password that a window got, empty before."""


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with tidy(tmp_path_factory.mktemp("passwords") / "errors.log") as found:
        yield found


@contextmanager
def page(browser: str, desktop: Service) -> Iterator[Entered]:
    """A password field of a page."""
    with reporting_page(PAGE) as (url, reports):
        desktop.post("/api/v0/processes/start", {"command": f"{browser} {url}"})
        assert reports.get(timeout=3 * PATIENCE)[0] == "/ready"
        until(lambda: keyboard_of(desktop).startswith("password"), "the focus of the browser")

        def entered() -> str:
            try:
                return reports.get_nowait()[1]
            except Empty:
                return ""

        yield entered


def read(desktop: Service, file: str) -> str:
    answer = desktop.http.get("/api/v0/read-file", params={"path": file})
    return answer.text if answer.status_code == 200 else ""


@contextmanager
def terminal(desktop: Service) -> Iterator[Entered]:
    """A prompt of a program in a terminal, which does not show what is typed."""
    file = output(desktop, "echo ~/of-terminal")
    desktop.post("/api/v0/desktop/launch", {"name": "terminal"})
    until(lambda: "Terminal" in focused(desktop), "the focus of the terminal")
    prompt = f'read -rs word; printf %s "$word" > {file}'
    desktop.act(action="type", text=f"echo > {file}.ready; {prompt}\n")
    until(lambda: read(desktop, f"{file}.ready"), "the prompt")
    yield lambda: read(desktop, file)


@contextmanager
def dialog(program: str, script: str, desktop: Service) -> Iterator[Entered]:
    """The field of a dialog, whose program the service launches."""
    file = output(desktop, f"echo ~/of-{Path(script).stem}")
    install(desktop, DATA / script, program, file)
    desktop.post("/api/v0/desktop/launch", {"name": Path(script).stem})
    until(lambda: keyboard_of(desktop) == "password", "the focus of the dialog")
    yield lambda: read(desktop, file)


@contextmanager
def unfiltered_spy(desktop: Service, file: Path) -> Iterator[None]:
    """A spy that is a client of the X server itself, and is not stopped."""
    display, authority = x_display(desktop)
    variables = os.environ | {"DISPLAY": display, "XAUTHORITY": str(authority)}
    words = [sys.executable, str(SPY), str(file), "every"]
    with subprocess.Popen(words, env=variables) as found:
        try:
            until(lambda: file.exists() and "ready" in file.read_text(), "the control")
            yield
        finally:
            found.kill()


def learned(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith(("key ", "text "))]


Window = Callable[[Service], AbstractContextManager[Entered]]
WINDOWS: dict[str, Window] = {
    "page": partial(page, "exec browser"),
    "terminal": terminal,
    "gtk": partial(dialog, "python3", "gtk_password.py"),
    "tk": partial(dialog, "wish", "tk_password.tcl"),
    "qt": partial(dialog, "/usr/bin/python3", "qt_password.py"),
    "firefox": partial(page, "mkdir firefox; exec firefox-esr --no-remote --profile $PWD/firefox"),
}
NEEDED = {
    "tk": ("which", "wish"),
    "qt": ("/usr/bin/python3", "-c", "import PyQt6.QtWidgets"),
    "firefox": ("which", "firefox-esr"),
}
"""Commands that fail where the program of a dialog is not installed."""


def has(*command: str) -> bool:
    """Return whether a command succeeds."""
    with suppress(OSError):
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return False


@pytest.mark.slow("a person who types")
@pytest.mark.parametrize(
    "window", [pytest.param(one, marks=[pytest.mark.full] * (one in NEEDED)) for one in WINDOWS]
)
def test_nobody_but_its_window_learns_a_password(
    desktop: Service, window: str, tmp_path: Path
) -> None:
    if window in NEEDED and not has(*NEEDED[window]):
        pytest.skip(f"the library of the dialog {window} is not installed")
    control = tmp_path / "control"
    widgets = WidgetSpies(desktop)
    with WINDOWS[window](desktop) as entered, unfiltered_spy(desktop, control):
        spies = Spies(desktop).started(window, "steal")
        with Listeners(widgets) as listeners:
            person_types(desktop, f"{SECRET}\n")
            give_back(desktop)
            assert until(entered, "the password in its window") == SECRET
            spies.wait_alive(window, len(spies.lines(window)))
            assert learned(spies.lines(window)) == []
            assert listeners.heard()[0] == []
        output(desktop, "pkill -f [s]py.py")
    # The control: the X server reported the keys.
    assert {f"key {one.lower()}" for one in SECRET} <= set(
        learned(control.read_text().splitlines())
    )
