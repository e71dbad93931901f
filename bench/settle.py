"""Measure how often the picture after an action equals the screen two seconds later.

Usage: python -m bench.settle [--repeats N]
"""

import argparse
import io
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from statistics import median
from typing import NamedTuple, TypeAlias

import numpy as np
from PIL import Image

from deskhand.desktop.remote_sync import Desktop
from deskhand.desktop.results import Done

from .tables import save

LATER_SECONDS = 2.0
# Pixels that may differ: those of a blinking text cursor.
CARET_PIXELS = 128

STYLE = """<style>
body { font: 20px sans-serif; margin: 20px; background: #fff }
textarea { width: 800px; height: 300px; font-size: 20px }
button, output { position: fixed; left: 20px; width: 200px; height: 60px }
button { top: 100px }
output { top: 180px }
@keyframes turn { to { transform: rotate(360deg) } }
@keyframes slide { to { left: 900px } }
.spinner { width: 40px; height: 40px; border: 6px solid #ccc; border-top-color: #06c;
           border-radius: 50%; animation: turn 1s linear infinite }
.slider { position: absolute; top: 300px; left: 0; width: 200px; height: 200px; background: #06c;
          animation: slide 2s linear infinite alternate }
.wide { width: 800px; font-size: 20px }
.large { position: fixed; left: 90px; top: 100px; width: 60px; height: 60px }
.target { position: fixed; left: 20px; top: 100px; width: 200px; height: 60px }
canvas { position: absolute; left: 20px; top: 300px }
</style>"""
LINES = "".join(
    f"<p>Line {number}, and some words to fill it with text.</p>" for number in range(400)
)
ANSWER = "said.style.background = said.style.background ? '' : '#c60'"
PAGES = {
    "long": LINES,
    "form": "<textarea autofocus></textarea>",
    "spinner": f'<div class=spinner></div><button onclick="{ANSWER}">Click</button>',
    "animation": f'<div class=slider></div><button onclick="{ANSWER}">Click</button>',
    "slow": f'<button onclick="setTimeout(() => {{ {ANSWER} }}, 200)">Click</button>',
    "text": "<input class=wide autofocus value='some words in a field of text'>",
    "box": "<input type=checkbox class=large>",
    "tip": "<style>b { display: none } u:hover b { display: block }</style>"
    "<u class=target>Here<b>A word about this</b></u>",
    "title": "<u class=target title='A word about this'>Here</u>",
    "video": f'<canvas width=640 height=360></canvas><button onclick="{ANSWER}">Click</button>'
    "<script>const film = document.querySelector('canvas').getContext('2d'); let at = 0;"
    "const draw = () => { at += 3; for (let y = 0; y < 360; y += 20) {"
    "film.fillStyle = `hsl(${at + y} 80% 50%)`; film.fillRect(0, y, 640, 20); }"
    "requestAnimationFrame(draw); }; draw();</script>",
}


class Scene(NamedTuple):
    """One action, and what the screen shows before it."""

    name: str
    page: str | None
    """HTML of the page; ``None`` for a terminal."""
    act: Callable[[Desktop], Done]
    after: tuple[str, ...] = ()
    """Keys that undo the action."""
    moving: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Left, top, right and bottom of the part that moves by itself, in pixels of the picture."""
    seen: bool = True
    """True if the action changes the screen for good."""
    clicks: bool = False
    """True for an action that presses a button of the mouse."""


def key(text: str) -> Callable[[Desktop], Done]:
    return lambda desktop: desktop.keyboard.press(text, observe=True)


def click(desktop: Desktop) -> Done:
    return desktop.act("left_click", observe=True, coordinate=[80, 144])


def in_turns(*keys: str) -> Callable[[Desktop], Done]:
    turns = cycle(keys)
    return lambda desktop: desktop.keyboard.press(next(turns), observe=True)


def pointed() -> Callable[[Desktop], Done]:
    """Return an action that moves the pointer to the target of a page, and away the next time."""
    places = cycle(([80, 144], [900, 500]))
    return lambda desktop: desktop.act("mouse_move", observe=True, coordinate=next(places))


SCENES = (
    Scene("terminal: a key", None, key("a")),
    Scene("terminal: Return", None, key("Return")),
    Scene(
        "terminal: seq 50",
        None,
        lambda desktop: desktop.keyboard.type("seq 50; date +%N\n", observe=True),
    ),
    Scene(
        "browser: wheel",
        "long",
        lambda desktop: desktop.act("scroll", observe=True, coordinate=[600, 400], scroll_amount=3),
    ),
    Scene("browser: Page Down", "long", key("Next")),
    Scene("browser: End", "long", key("End"), ("Home",)),
    Scene("browser: reload", "long", key("F5"), seen=False),
    Scene("browser: new tab", "long", key("ctrl+t"), ("ctrl+w",)),
    Scene(
        "browser: menu",
        "long",
        lambda desktop: desktop.act("right_click", observe=True, coordinate=[600, 400]),
        ("Escape",),
        clicks=True,
    ),
    Scene("browser: textarea", "form", key("a")),
    Scene("browser: beside a spinner", "spinner", click, moving=(0, 57, 60, 115), clicks=True),
    Scene(
        "browser: beside an animation", "animation", click, moving=(0, 250, 740, 400), clicks=True
    ),
    Scene("browser: answer after 0.2 s", "slow", click, clicks=True),
    Scene("browser: caret in a field", "text", in_turns("End", "Home"), seen=False),
    Scene("browser: check box", "box", click, clicks=True),
    Scene("browser: tooltip of the page", "tip", pointed()),
    Scene("browser: tooltip of the browser", "title", pointed()),
    Scene("browser: beside a video", "video", click, moving=(0, 240, 460, 520), clicks=True),
)


@contextmanager
def shown(desktop: Desktop, page: str | None) -> Iterator[None]:
    """Show a page, or a terminal, until the block ends."""
    folder = desktop.run("cd && pwd").output.strip()
    command = "xterm -geometry 120x40+0+0"
    if page is not None:
        desktop.write_file(
            f"{folder}/page.html",
            f"<title>{page}</title>{STYLE}{PAGES[page]}<output id=said></output>",
        )
        command = f"browser file://{folder}/page.html"
    script = f"echo $$ > {folder}/pid; exec {command} >/dev/null 2>&1"
    desktop.run(f"setsid -f sh -c {shlex.quote(script)}")
    desktop.wait(2.0)
    desktop.act("wait", duration=0, observe={"settle": {"quiet_ms": 700, "max_ms": 5000}})
    try:
        yield
    finally:
        desktop.run(f"kill $(cat {folder}/pid)")
        desktop.wait(1.0)


Pixels: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]"


def still(picture: bytes, scene: Scene) -> Pixels:
    """Return a picture's pixels, black where the scene moves by itself."""
    found = np.array(Image.open(io.BytesIO(picture)).convert("RGB"))
    left, top, right, bottom = scene.moving
    found[top:bottom, left:right] = 0
    return found


def differing(one: Pixels, other: Pixels) -> int:
    return int(np.count_nonzero((one != other).any(axis=2)))


def measured(desktop: Desktop, scene: Scene, repeats: int) -> dict[str, object]:
    same, milliseconds, verdicts = 0, [], []
    for _ in range(repeats):
        before = still(desktop.screenshot().data, scene)
        began = time.perf_counter()
        done = scene.act(desktop)
        milliseconds.append(1000 * (time.perf_counter() - began))
        assert done.picture is not None
        desktop.wait(LATER_SECONDS)
        later = still(desktop.screenshot().data, scene)
        # A scene in which nothing happens would always count as the same.
        assert not scene.seen or differing(before, later), f"{scene.name}: nothing happened"
        same += differing(still(done.picture.data, scene), later) <= CARET_PIXELS
        verdicts.append(done.settled)
        for chord in scene.after:
            desktop.keyboard.press(chord, observe=True)
    return {
        "scene": scene.name,
        "same": f"{same} of {repeats}",
        "act_to_picture_ms": round(median(milliseconds)),
        "settled": ", ".join(sorted({str(verdict) for verdict in verdicts})),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=4)
    asked = parser.parse_args()
    rows = []
    with Desktop.launch() as desktop:
        for scene in SCENES:
            with shown(desktop, scene.page):
                row = measured(desktop, scene, asked.repeats)
            rows.append(row)
            print(*row.values(), sep=" | ")
    save("settle", {"scenes": rows})


if __name__ == "__main__":
    main()
