"""A page that counts clicks, kept outside of Deskhand: the browsers of desktops report to it.

Its left edge is click 0, its right edge the last one. Each press of the button is reported once,
also if a browser should send a report a second time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from deskhand.tools.agents.scripted.script.script import Script, read_script
from tests.cluster.actions import OPEN, ActionLog, command
from tests.system.reporting_page import PageHandler, serving

CLICKED = "counted-clicks"
CLICKS = 10
"""Targets side by side."""
WIDTH, HEIGHT = 1280, 720
"""Of the pictures that models see."""
PAGE = b"""<!doctype html><meta charset=utf-8><title>clicks</title>
<style>html { height: 100%; background: #204080 }</style><script>
let sent = 0, isShown = false;
const send = (what) => fetch("/", { method: "POST", keepalive: true,
  body: `${what} ${location.pathname.slice(1)} ${performance.timeOrigin}-${sent++}` });
addEventListener("pointerdown", (event) =>
  send(`click-${Math.floor(10 * event.clientX / innerWidth)}`));
const look = () => requestAnimationFrame(() => requestAnimationFrame(() => {
  if (isShown || innerHeight < screen.height) return;
  isShown = true;
  send("page");
}));
addEventListener("resize", look);
addEventListener("load", look);
</script>"""


def point(click: int) -> list[int]:
    """Return where a model has to click."""
    return [WIDTH * (2 * click + 1) // (2 * CLICKS), HEIGHT // 2]


def script_of_clicks(log: ActionLog, url: str, steps: int) -> Script:
    """Return a script whose agents open the page, then run commands and click in turns.

    ``step-1`` is followed by ``click-1``, and so on.
    """
    browser = f'browser --kiosk "{url}$(basename "$PWD")"'
    calls = [
        {"calls": [{"execute": {"command": browser, "run_in_background": True}}]},
        command(log, OPEN),
    ]
    for number in range(1, steps + 1):
        click = {"computer.left_click": {"coordinate": point(number)}}
        calls += [command(log, f"step-{number}"), {"calls": [click]}]
    return read_script(CLICKED, {"steps": [*calls, {"say": "All done."}]})


@contextmanager
def click_page(log: ActionLog) -> Iterator[str]:
    """Serve the page until the block ends; its address is to be followed by the chat's name."""
    seen = set[str]()
    lock = Lock()

    class Handler(PageHandler):
        def do_GET(self) -> None:
            self.answer(PAGE if self.path.count("/") == 1 else b"")

        def do_POST(self) -> None:
            what, chat, report = self.body().split()
            with lock:
                is_new = report not in seen
                seen.add(report)
            if is_new:
                log.add(f"{what} {chat}")
            self.answer(b"")

    with serving(Handler, "0.0.0.0") as port:
        yield f"http://{log.address}:{port}/"
