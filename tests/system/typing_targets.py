"""Applications to type into, and what they received, character by character."""

import asyncio
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from websockets.asyncio.client import connect

from deskhand.desktop.input.keys import keysyms_of_text
from tests.system.reporting_page import Reports, reporting_page
from tests.system.services import PATIENCE, Service, until
from tests.vncbridge.rfb.client_messages import HELLO, PIXEL, key

PAGE = b"""<!doctype html><meta charset=utf-8><title>typing</title>
<textarea autofocus spellcheck=false style="width:1200px;height:700px"></textarea><script>
const area = document.querySelector("textarea");
const send = (path) => fetch(path, { method: "POST", body: area.value });
// A textarea lets Tab go to the next field, where typing would be lost.
area.addEventListener("keydown", (event) => {
  if (event.key === "Tab") { event.preventDefault(); area.setRangeText("\\t", area.selectionStart,
    area.selectionEnd, "end"); }
  if (event.key === "F2" && area.value) { send("/text"); area.value = ""; }
});
area.focus();
</script>"""


GTK_VIEW = Path(__file__).parents[1] / "data" / "gtk_view.py"
GREETING = "\u00b7"
SHIFT = 0xFFE1


class TextTarget(Protocol):
    """A field into which text is typed."""

    def received(self, text: str) -> str:
        """Type a text and return what arrived."""


def typed(desktop: Service, text: str) -> None:
    """Type a text, which takes a while if it has thousands of foreign characters."""
    body = {"action": "type", "text": text}
    answer = desktop.http.post("/api/v0/desktop/action", json=body, timeout=6 * PATIENCE)
    assert answer.is_success, answer.text


def keyboard_of(desktop: Service) -> str:
    """The title of the window that has the keyboard."""
    seen = desktop.act(action="wait", duration=0, observe={"screenshot": False})
    return str((seen["focused_after"] or {}).get("title", ""))


def install(desktop: Service, script: Path, program: str, *arguments: str) -> None:
    """Let the service launch a script as an application that has the name of its file."""
    path = desktop.post("/api/v0/processes/start", {"command": "pwd"})["workdir"]
    share = Path(path).parent / "share"
    copy, entry = share / script.name, share / "applications" / f"{script.stem}.desktop"
    copy.write_text(script.read_text())
    command = shlex.join((program, str(copy), *arguments))
    entry.write_text(f"[Desktop Entry]\nType=Application\nName={script.stem}\nExec={command}\n")
    for file in (copy, entry):
        file.chmod(0o644)


class Terminal:
    """An xterm whose reader takes every byte as it is."""

    def __init__(self, desktop: Service) -> None:
        self._desktop = desktop
        self._path = desktop.post("/api/v0/processes/start", {"command": "pwd"})["workdir"]
        self._out = f"{self._path}/typed"
        script = f"stty raw -echo; : > {self._out}; exec cat > {self._out}"
        command = f"exec xterm -geometry 60x10+0+0 -e sh -c '{script}'"
        desktop.post("/api/v0/processes/start", {"command": command})
        until(lambda: "sh" in keyboard_of(desktop), "the focus of the terminal")
        until(self._reads, "the reader")
        self._length = 0

    def received(self, text: str) -> str:
        typed(self._desktop, text)
        return self.arrived(text)

    def arrived(self, text: str) -> str:
        """Return the text received since, once it is as long as a typed text."""
        wanted = self._length + len(text.encode())
        until(lambda: len(self._read()) >= wanted, f"{text[:40]!r}")
        found = self._read()[self._length :]
        self._length += len(found)
        return found.decode(errors="replace").replace("\r", "\n")

    def _reads(self) -> bool:
        answer = self._desktop.http.get("/api/v0/read-file", params={"path": self._out})
        return answer.status_code == 200

    def _read(self) -> bytes:
        answer = self._desktop.http.get("/api/v0/read-file", params={"path": self._out})
        return answer.content if answer.status_code == 200 else b""


class TextView:
    """A GTK text view, which writes what it holds into a new file when F2 is struck."""

    def __init__(self, desktop: Service, *, installed: bool = False) -> None:
        """With ``installed`` the service launches it as an application."""
        self._desktop = desktop
        self._folder = desktop.post("/api/v0/processes/start", {"command": "pwd"})["workdir"]
        if installed:
            install(desktop, GTK_VIEW, "python3", self._folder)
            desktop.post("/api/v0/desktop/launch", {"name": GTK_VIEW.stem})
        else:
            program = shlex.quote(GTK_VIEW.read_text())
            command = f"exec python3 -c {program} {self._folder}"
            desktop.post("/api/v0/processes/start", {"command": command})
        until(lambda: keyboard_of(desktop) == "gtk view", "the focus of the text view")
        self._files = 0

    def received(self, text: str) -> str:
        typed(self._desktop, text)
        return self.held()

    def held(self) -> str:
        """Return the text of the view and clear it."""
        self._desktop.act(action="key", text="F2", observe={"screenshot": False})
        self._files += 1
        path = f"{self._folder}/{self._files}"
        content: bytes = until(lambda: self._read(path), "the text of the view")[0]
        return content.decode()

    def _read(self, path: str) -> tuple[bytes, ...]:
        answer = self._desktop.http.get("/api/v0/read-file", params={"path": path})
        return (answer.content,) if answer.status_code == 200 else ()


class TextArea:
    """A textarea in the desktop's browser that sends what it holds when F2 is struck."""

    def __init__(self, desktop: Service, reports: Reports) -> None:
        self._desktop = desktop
        self._reports = reports

    def answers(self) -> bool:
        """Return whether the page has the keyboard focus."""
        typed(self._desktop, GREETING)
        self._desktop.act(action="key", text="F2", observe={"screenshot": False})
        return not self._reports.empty()

    def received(self, text: str) -> str:
        typed(self._desktop, text)
        return self.held()

    def held(self) -> str:
        """Return the text of the area and clear it."""
        self._desktop.act(action="key", text="F2", observe={"screenshot": False})
        while not (found := self._reports.get(timeout=4 * PATIENCE)[1].lstrip(GREETING)):
            pass
        return found


@contextmanager
def text_area(desktop: Service) -> Iterator[TextArea]:
    """Open the page in the browser, and wait until it has the keyboard."""
    with reporting_page(PAGE) as (url, reports):
        desktop.post("/api/v0/processes/start", {"command": f"exec browser {url}"})
        area = TextArea(desktop, reports)
        until(area.answers, "the keyboard for the page")
        yield area


async def strike(desktop: Service, text: str, held: Sequence[int] = ()) -> None:
    """Type in the live view, as a person who takes control by it; keys are held meanwhile."""
    made = desktop.post("/api/v0/desktop/tickets", {"role": "control"}, status=201)
    url = f"{desktop.url.replace('http', 'ws', 1)}/api/v0/desktop/vnc?ticket={made['ticket']}"
    async with asyncio.timeout(PATIENCE), connect(url) as viewer:
        await viewer.send(HELLO)
        greeting = b""
        while b"Deskhand" not in greeting:
            greeting += await viewer.recv(decode=False)
        for keysym in held:
            await viewer.send(key(keysym))
        for character in text:
            (keysym,) = keysyms_of_text(character)
            stroke = key(keysym) + key(keysym, down=False)
            if character.isupper() and not held:
                stroke = key(SHIFT) + stroke + key(SHIFT, down=False)
            await viewer.send(stroke + PIXEL)
            # The server obeys in order: with the picture it has struck the key.
            await viewer.recv()
        for keysym in held:
            await viewer.send(key(keysym, down=False) + PIXEL)
            await viewer.recv()
