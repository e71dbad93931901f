"""Editors of several toolkits: a text in one window, which Ctrl+S writes into a file."""

import itertools
import json
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts.install_programs import CLASSES, MISSING, MODULES
from tests.system.services import SLOWNESS, Json, Service, until
from tests.system.typing_targets import keyboard_of, typed

SOURCES = Path(__file__).with_name("sources")
WINDOWS = "/api/v0/desktop/windows"
CLIPBOARD = "/api/v0/desktop/clipboard"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class EditorKind:
    """One editor, and where things are in its window, in native pixels below its upper edge."""

    name: str
    needs: str
    """A package, or another key of the set-up."""
    command: str
    """Is given its file as last argument; ``{share}`` has `SOURCES` and classes of Java."""
    title: str
    place: tuple[int, int]
    first_line: int
    """The middle of the first line of text."""
    menu: int = 40
    """The bar of menus; 0 if the window has none."""


EDITORS = {
    one.name: one
    for one in (
        EditorKind("qt", "python3-pyqt6", "python3 {share}/qt_editor.py", "qt editor", (0, 0), 59),
        EditorKind("tk", "python3-tk", "python3 {share}/tk_editor.py", "tk editor", (640, 0), 72),
        EditorKind(
            "swing", "swing editor", "java -cp {share} Editor", "swing editor", (1280, 0), 58
        ),
        EditorKind(
            *("gtk4", "gnome-text-editor", "gnome-text-editor -s", "gtk4.txt", (0, 500), 74, 0),
        ),
    )
}
SETTLED: Json = {
    "screenshot": False,
    "settle": {"quiet_ms": round(300 * SLOWNESS), "max_ms": round(3000 * SLOWNESS)},
}
"""Lets an action wait until the screen rests."""
ITEM = 26
"""From a bar of menus to the first item of one, in native pixels."""


@contextmanager
def locks(desktop: Service) -> Iterator[None]:
    """Caps Lock and Num Lock are on during the block."""
    desktop.act(action="key", text="Caps_Lock Num_Lock")
    try:
        yield
    finally:
        desktop.act(action="key", text="Caps_Lock Num_Lock")


def skip_without(*needs: str) -> None:
    """Skip a test whose programs could not be installed, with the reason."""
    if not MISSING.exists():
        pytest.skip("`make programs` installs the programs")
    missing = json.loads(MISSING.read_text())
    for name in needs:
        if name in missing:
            pytest.skip(f"{name} is not installed: {missing[name]}")


def fresh(text: str) -> str:
    """Return a text that begins as no other one does."""
    return f"{next(_numbers)} {text}"


def output(desktop: Service, command: str, given: str = "") -> str:
    """Return what a command prints that reads a text."""
    if given:
        command = f"printf %s {shlex.quote(given)} | {command}"
    started = desktop.post("/api/v0/processes/start", {"command": command})
    ended = desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true")
    return str(ended["output"])


def shared_folder(desktop: Service) -> Path:
    """Return a directory of the host with our sources, which programs of the desktop read."""
    workdir = desktop.post("/api/v0/processes/start", {"command": "pwd"})["workdir"]
    folder = Path(workdir).parent / "share" / "programs"
    if not folder.exists():
        shutil.copytree(SOURCES, folder)
        for made in (CLASSES, MODULES):
            if made.exists():
                shutil.copytree(made, folder, dirs_exist_ok=True)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def window(desktop: Service, title: str) -> Json:
    """Return the newest window whose title contains a text, once there is one."""

    def found() -> list[Json]:
        return [one for one in desktop.get(WINDOWS)["windows"] if title in one["title"]][::-1]

    first: Json = until(found, f"a window {title!r}")[0]
    return first


def copied(desktop: Service) -> str:
    return desktop.http.get(CLIPBOARD).text


class Editor:
    """An editor that runs."""

    def __init__(self, desktop: Service, kind: EditorKind) -> None:
        self.kind = kind
        self._desktop = desktop
        command = kind.command.format(share=shared_folder(desktop))
        file = f"{kind.name}.txt"
        started = desktop.post(
            "/api/v0/processes/start", {"command": f": > {file}; exec {command} {file}"}
        )
        self._file = f"{started['workdir']}/{file}"
        until(self.has_keyboard, f"the focus of {kind.name}")
        self.window = window(desktop, kind.title)["id"]
        x, y = kind.place
        body = {"x": x, "y": y, "coordinate_space": "native"}
        desktop.post(f"{WINDOWS}/{self.window}/move", body)

    def has_keyboard(self) -> bool:
        """Return whether its window has the keyboard."""
        return self.kind.title in keyboard_of(self._desktop)

    def at(self, x: int, y: int) -> list[int]:
        """Return a point of the screen, in native pixels from the window's upper left corner."""
        return [self.kind.place[0] + x, self.kind.place[1] + y]

    def click(self, x: int = 300, y: int = 200, action: str = "left_click", **more: Json) -> None:
        """Click into its window, by default into the middle of the text."""
        at = self.at(x, y)
        self._desktop.act(action=action, coordinate=at, coordinate_space="native", **more)

    def clear(self) -> None:
        """Put it in front of other windows, give it the keyboard, and remove its text."""
        self._desktop.post(f"{WINDOWS}/{self.window}/focus", {})
        self.click()
        until(self.has_keyboard, f"the focus of {self.kind.name}")
        self.keys("ctrl+a Delete")

    def keys(self, names: str) -> None:
        self._desktop.act(action="key", text=names)

    def type(self, text: str) -> None:
        typed(self._desktop, text)

    def assert_holds(self, text: str) -> None:
        """Let it save its text, again until that is this one: GTK pastes some time after a key."""
        until(self.has_keyboard, f"the focus of {self.kind.name}")
        found = ""

        def saved() -> bool:
            nonlocal found
            self.keys("ctrl+s")
            answer = self._desktop.http.get("/api/v0/read-file", params={"path": self._file})
            # GTK's editor ends a file with a line break.
            found = answer.content.decode().rstrip("\n")
            return found == text

        with suppress(AssertionError):
            until(saved, "the text", pause=0.1)
        assert found == text, f"{self.kind.name} holds {found!r}, not {text!r}"
