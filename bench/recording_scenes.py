"""Scenes on the screen that the compared recorders record."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
from numpy.typing import NDArray

from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.desktop.display.child_processes import ChildCommand, ChildProcessSpawner
from deskhand.desktop.display.x_server import XServer
from deskhand.desktop.geometry import Point
from deskhand.desktop.input.events import PointerMotion, Tap
from deskhand.desktop.input.xtest import XTestInput

RETURN = 0xFF0D

ANIMATION = """<body style="font: 16px sans-serif; margin: 20px"><h1>Always animated</h1>
<p id=text style="column-count: 3"></p><canvas id=canvas width=900 height=500></canvas>
<script>
text.textContent = "Words that stand still beside what moves all the time. ".repeat(60);
const pen = canvas.getContext("2d");
function draw(now) {
  pen.fillStyle = "#fff"; pen.fillRect(0, 0, 900, 500);
  for (let i = 0; i < 60; i++) {
    pen.fillStyle = `hsl(${i * 6}, 80%, 50%)`; pen.beginPath();
    pen.arc(450 + 400 * Math.sin(now / 900 + i), 250 + 220 * Math.cos(now / 700 + 1.7 * i),
            18, 0, 7);
    pen.fill();
  }
  requestAnimationFrame(draw);
}
requestAnimationFrame(draw);
</script>"""


class Activity(NamedTuple):
    """An activity on the screen; times in seconds since 1970."""

    name: str
    start: float
    end: float


class Stage:
    """A display with a terminal on it, and an input device."""

    def __init__(
        self, folder: Path, server: XServer, input_device: XTestInput, spawner: ChildProcessSpawner
    ) -> None:
        self.folder = folder
        self.server = server
        self.input_device = input_device
        self._spawner = spawner
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "DISPLAY": server.display,
            "XAUTHORITY": str(server.xauthority),
        }

    def open(self, *command: str) -> Callable[[], object]:
        """Start a program, wait until its window is shown, and return the function that ends it."""
        log = self.folder / f"{Path(command[0]).name}.log"
        child = self._spawner.spawn(ChildCommand(command, self.environment, log))
        time.sleep(6.0 if command[0] == "chromium" else 1.0)
        return child.stop

    def mixed(self, seconds: float) -> list[Activity]:
        """A twelfth each of typing, scrolling and moving the pointer, the rest nothing."""
        act = seconds / 12
        self._enter("clear")
        done = [self._during("typing", 0.1, act, self._type)]
        self._enter("seq 2000")
        done.append(self._during("scrolling", 0.25, act, lambda turn: self._enter("seq 30")))
        done.append(self._during("pointer", 0.05, act, self._wander))
        time.sleep(seconds - 3 * act)
        return done

    def watch(self, seconds: float) -> list[Activity]:
        """Do nothing: the screen moves by itself."""
        time.sleep(seconds)
        return []

    def look(self) -> NDArray[np.uint8]:
        """Return the pixels of the screen, without the pointer."""
        with Framebuffer(self.server.display, self.server.xauthority) as screen:
            return screen.frame().pixels.copy()

    def x_cpu(self) -> float:
        """Return the CPU seconds of the X server."""
        times = psutil.Process(self.server.pid or 0).cpu_times()
        return float(times.user + times.system)

    def _type(self, turn: int) -> None:
        self.input_device.perform([Tap(ord("a") + turn % 26)])

    def _enter(self, line: str) -> None:
        self.input_device.perform(
            [Tap(RETURN), *(Tap(ord(letter)) for letter in line), Tap(RETURN)]
        )

    def _wander(self, turn: int) -> None:
        self.input_device.perform(
            [PointerMotion(Point(200 + 13 * turn % 1500, 200 + 7 * turn % 700))]
        )

    def _during(
        self, name: str, pause: float, seconds: float, work: Callable[[int], None]
    ) -> Activity:
        begun = time.time()
        for turn in range(int(seconds / pause)):
            work(turn)
            time.sleep(pause)
        return Activity(name, begun, time.time())


def legibility(screen: NDArray[np.uint8], shown: NDArray[np.uint8]) -> float:
    """Return the structural similarity of two grey pictures where there is text.

    The index is SSIM (https://doi.org/10.1109/TIP.2003.819861) in squares of 8 pixels. Squares
    without contrast are left out: a picture is mostly background, which every encoder keeps.
    """
    a, b = screen.astype(np.float64), shown.astype(np.float64)
    mean_a, mean_b = _mean(a), _mean(b)
    spread_a, spread_b = _mean(a * a) - mean_a**2, _mean(b * b) - mean_b**2
    common = _mean(a * b) - mean_a * mean_b
    light = (2 * mean_a * mean_b + 6.5) / (mean_a**2 + mean_b**2 + 6.5)
    structure = (2 * common + 58.5) / (spread_a + spread_b + 58.5)
    text = spread_a > 100
    return float((light * structure)[text].mean()) if text.any() else 1.0


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    height, width = (side // 8 * 8 for side in values.shape)
    squares = values[:height, :width].reshape(height // 8, 8, width // 8, 8)
    found: NDArray[np.float64] = squares.mean(axis=(1, 3))
    return found
