"""Ten flows that are recorded once and replayed: pages of ``bench/flows`` and scripts of a model.

A script finds its targets by their colours in the picture, so that it needs no widgets. The server
moves, renames and restyles the target of a flow while ``changed`` is set.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = dict[str, Any]

PAGES = Path(__file__).parent / "flows"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".csv": "text/csv"}
TARGET, CHANGED = "#8fbc8f", "#c71585"
"""Colours of the target of a flow."""
YELLOW, BLUE, ORANGE, GREEN, STATION = "#fff3b0", "#b0f3ff", "#ffd8b1", "#b0ffb0", "#1e90ff"
UPLOAD = "/tmp/deskhand-flow-notes.txt"
SECRET, PASSWORD = "flow-password", "correct horse"


@dataclass(frozen=True)
class Flow:
    """One flow: what the scripted model does, and the text that the page shows at its end."""

    name: str
    steps: tuple[Json, ...]
    done: str
    renamed: tuple[str, str] | None = None
    """Role and name of the changed target; ``None`` if it is no widget."""

    def script(self, url: str, command: str = "browser") -> Json:
        """Return the whole script for the page at an address."""
        opening = {"execute": {"command": f"{command} '{url}'", "run_in_background": True}}
        report = {"summary": self.done, "outcome": "done"}
        return {"steps": [{"calls": [opening]}, *self.steps, {"report": report}]}


def click(colour: str, member: str = "left_click") -> Json:
    """Return the step that clicks a colour when the picture shows it."""
    call = {f"computer.{member}": {"coordinate": {"blob": colour}}}
    return {"needs": {"blob": colour, "at_least": 30}, "calls": [call]}


def text(value: str) -> Json:
    """Return the step that types."""
    return {"calls": [{"computer.type": {"text": value}}]}


def key(chord: str) -> Json:
    """Return the step that presses keys."""
    return {"calls": [{"computer.key": {"text": chord}}]}


def drag(from_: str, to: str) -> Json:
    """Return the step that drags one colour to another."""
    ends = {"start_coordinate": {"blob": from_}, "coordinate": {"blob": to}}
    return {"needs": {"blob": from_, "at_least": 30}, "calls": [{"computer.left_click_drag": ends}]}


LOOK: Json = {"calls": [{"computer.screenshot": {}}]}
NOTES: Json = {"calls": [{"execute": {"command": f"echo notes > {UPLOAD}"}}]}

FLOWS = (
    Flow(
        "form",
        (click(YELLOW), text("Ada Lovelace"), click(BLUE), text("3"), click(TARGET), LOOK),
        "Saved 3 for Ada Lovelace",
        ("button", "Send it off"),
    ),
    Flow(
        "menu",
        (click(ORANGE), click(TARGET), LOOK),
        "Exported as PDF",
        ("menu item", "Write a PDF"),
    ),
    Flow(
        "file",
        (NOTES, click(TARGET), LOOK, text(UPLOAD), key("Return"), LOOK),
        "Chosen deskhand-flow-notes.txt",
        ("button", "Add a document"),
    ),
    Flow("table", (click(TARGET), LOOK), "Approved request 9", ("button", "Accept this")),
    Flow("download", (click(TARGET), LOOK), "The report was sent", ("link", "Get the numbers")),
    Flow(
        "login",
        (
            *(click(YELLOW), text("ada"), click(BLUE)),
            {"calls": [{"type_secret": {"name": SECRET}}]},
            *(click(TARGET), LOOK),
        ),
        "Welcome ada",
        ("button", "Enter the shop"),
    ),
    Flow("canvas", (click(STATION), LOOK), "Station selected"),
    Flow("drag", (drag(TARGET, GREEN), LOOK), "Card is shipped", ("button", "The parcel")),
    Flow(
        "windows",
        (click(ORANGE), click(TARGET), LOOK),
        "Invoice is paid",
        ("button", "Go ahead with it"),
    ),
    Flow(
        "settings",
        (click(ORANGE), click(YELLOW), text("Ada"), click(TARGET), LOOK),
        "Signed Ada",
        ("button", "Keep these"),
    ),
)


def healing(flow: Flow) -> Json:
    """Return the script of the model that heals a step of a flow: it chooses the changed target.

    It names the widget, or clicks on what is none in the picture.
    """
    if flow.renamed is None:
        return {"steps": [{"calls": [{"computer.left_click": {"coordinate": {"blob": CHANGED}}}]}]}
    role, name = flow.renamed
    return {"steps": [{"calls": [{"choose_target": {"role": role, "name": name}}]}]}


class PageServer:
    """Serves the pages of the flows on loopback."""

    def __init__(self) -> None:
        self.changed = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def address(self, flow: Flow) -> str:
        """Return the address of the page of a flow."""
        return f"http://127.0.0.1:{self.server.server_port}/{flow.name}.html"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Send a file."""
        name = request.path.partition("?")[0].rpartition("/")[2]
        path = PAGES / name
        if path.suffix not in KINDS or not path.is_file():
            request.send_error(404)
            return
        body = path.read_bytes()
        if self.changed and path.suffix == ".html":
            body = body.replace(b"flow.js", b"flow.js?changed")
        request.send_response(200)
        request.send_header("Content-Type", f"{KINDS[path.suffix]}; charset=utf-8")
        request.send_header("Content-Length", str(len(body)))
        request.send_header("Cache-Control", "no-store")
        request.end_headers()
        request.wfile.write(body)


@contextmanager
def page_server() -> Iterator[PageServer]:
    """Serve the pages while the block runs."""
    pages = PageServer()
    thread = threading.Thread(target=pages.server.serve_forever)
    thread.start()
    try:
        yield pages
    finally:
        pages.server.shutdown()
        thread.join()
        pages.server.server_close()
