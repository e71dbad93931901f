"""Measure screenshots of 1920x1080 as PNG of 1280x720: ours, and those of common tools.

All take turns in one run on one display, so that load on the machine affects them equally.
Usage: python -m bench.screenshot [--repeats N]
"""

import argparse
import io
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import mss
import numpy as np
from mss.linux import xcb
from PIL import Image, ImageDraw, ImageFont
from xcffib import xproto

from bench.tables import save
from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.desktop.display.child_processes import ChildProcessSpawner
from deskhand.desktop.display.x_server import XServer
from deskhand.desktop.geometry import Size
from deskhand.desktop.screenshots.renderer import ScreenshotRenderer
from deskhand.desktop.x11.connection import connect

NATIVE, MODEL = Size(1920, 1080), Size(1280, 720)
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"
OURS, BAND, SAME = "ours", "ours, one band", "ours, unchanged"
# A picture of the whole screen, and one that differs from it everywhere.
Scene = tuple[Path, Path]


def text_scene(dark: bool) -> Image.Image:
    """Draw a terminal, or a page full of text."""
    ground, ink, rows = ("#101820", "#dde3ea", 30) if dark else ("#ffffff", "#202020", 70)
    image = Image.new("RGB", NATIVE, ground)
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype(FONT, 14)
    for row in range(rows):
        line = " ".join(f"{(row * 7919 + word * 104729) % 99991:x}" for word in range(38))
        draw.text((12, 8 + row * 15), line, ink, font)
    return image


def photo_scene() -> Image.Image:
    """Draw soft shapes with the noise of a camera."""
    random = np.random.default_rng(3)
    small = Image.fromarray(random.integers(0, 256, (27, 48, 3), np.uint8))
    soft = np.asarray(small.resize(NATIVE, Image.Resampling.BICUBIC)).astype(np.int16)
    grain = random.integers(-4, 5, soft.shape, np.int16)
    return Image.fromarray(np.clip(soft + grain, 0, 255).astype(np.uint8))


def scenes(folder: Path) -> dict[str, Scene]:
    made = {"terminal": text_scene(True), "text": text_scene(False), "photo": photo_scene()}
    files: dict[str, Scene] = {}
    for name, image in made.items():
        other = Image.eval(image, lambda level: 255 - level)
        files[name] = (folder / f"{name}.png", folder / f"{name}-other.png")
        for path, content in zip(files[name], (image, other), strict=True):
            content.save(path)
    return files


class Spot:
    """A window of 24 x 12 pixels, the size of a typed word."""

    def __init__(self, server: XServer) -> None:
        connection: Any = connect(server.display, server.xauthority)
        self._core = connection.core
        screen = connection.get_setup().roots[0]
        self._window = connection.generate_id()
        masks = xproto.CW.BackPixel | xproto.CW.OverrideRedirect
        place = (screen.root, 400, 300, 24, 12, 0)
        kind = (xproto.WindowClass.InputOutput, screen.root_visual)
        self._core.CreateWindow(screen.root_depth, self._window, *place, *kind, masks, [0, 1])
        self._core.MapWindow(self._window)

    def paint(self, colour: int) -> None:
        self._core.ChangeWindowAttributes(self._window, xproto.CW.BackPixel, [colour])
        self._core.ClearArea(False, self._window, 0, 0, 0, 0)
        self._core.GetInputFocus().reply()


class Bench:
    """One display of which all tools take screenshots."""

    def __init__(self, folder: Path, server: XServer, screen: Framebuffer) -> None:
        self._folder = folder
        self._screen = screen
        self._environment = {
            **os.environ,
            "DISPLAY": server.display,
            "XAUTHORITY": str(server.xauthority),
        }
        self._pictures = ScreenshotRenderer()
        self._spot = Spot(server)
        os.environ.update(self._environment)
        # Xvnc lists depth 24 twice, and mss reads only the first entry.
        backend: Any = xcb
        depths = backend.screen_allowed_depths
        backend.screen_allowed_depths = lambda screen: depths(screen)[::-1]
        self._mss = mss.MSS()

    def show(self, picture: Path) -> None:
        self._run("hsetroot", "-fill", str(picture))
        self._screen.frame()

    def ours(self) -> bytes:
        return self._pictures.render(self._screen.frame(), size=MODEL)

    def mss_pillow(self) -> bytes:
        shot = self._mss.grab(self._mss.monitors[1])
        image = Image.frombytes("RGB", shot.size, shot.bgra, "raw", "BGRX")
        out = io.BytesIO()
        image.resize(MODEL, Image.Resampling.LANCZOS).save(out, "PNG")
        return out.getvalue()

    def scrot_convert(self) -> bytes:
        full, small = self._folder / "scrot.png", self._folder / "small.png"
        self._run("scrot", "--overwrite", "-p", str(full))
        self._run("convert", str(full), "-resize", "1280x720!", str(small))
        return small.read_bytes()

    def ffmpeg(self) -> bytes:
        out = self._folder / "ffmpeg.png"
        grab = ("-f", "x11grab", "-video_size", "1920x1080", "-i", self._environment["DISPLAY"])
        self._run(
            "ffmpeg", "-loglevel", "error", "-y", *grab, "-frames:v", "1",
            "-vf", "scale=1280:720", str(out),
        )  # fmt: skip
        return out.read_bytes()

    def time(self, scene: Scene, repeats: int) -> dict[str, float]:
        """Return the median milliseconds of each tool."""
        one, other = scene
        rivals: dict[str, Callable[[], bytes]] = {
            "mss + Pillow": self.mss_pillow,
            "scrot + convert": self.scrot_convert,
            "ffmpeg": self.ffmpeg,
        }
        taken: dict[str, list[float]] = {name: [] for name in (OURS, BAND, SAME, *rivals)}
        for _ in range(repeats):
            # Painted but not captured yet: capturing is a part of the measured time.
            for picture in (other, one):
                self._run("hsetroot", "-fill", str(picture))
                taken[OURS].append(self._timed(self.ours))
            for colour in (0xFF00FF, 0x00FF00):
                self._spot.paint(colour)
                taken[BAND].append(self._timed(self.ours))
            taken[SAME].append(self._timed(self.ours))
            for name, rival in rivals.items():
                taken[name].append(self._timed(rival))
        return {name: round(median(values), 3) for name, values in taken.items()}

    def close(self) -> None:
        self._mss.close()

    def _timed(self, shot: Callable[[], bytes]) -> float:
        started = time.perf_counter()
        data = shot()
        spent = time.perf_counter() - started
        assert data.startswith(b"\x89PNG")
        return spent * 1000

    def _run(self, *command: str) -> None:
        subprocess.run(command, env=self._environment, check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    with (
        tempfile.TemporaryDirectory() as place,
        ChildProcessSpawner() as spawner,
        XServer(Path(place), NATIVE, {"PATH": os.environ["PATH"]}, spawner) as server,
        Framebuffer(server.display, server.xauthority) as screen,
    ):
        bench = Bench(Path(place), server, screen)
        for name, scene in scenes(Path(place)).items():
            bench.show(scene[0])
            bench.ours()
            results[name] = bench.time(scene, options.repeats)
            print(f"{name}:")
            for who, spent in results[name].items():
                ratio = spent / results[name][OURS]
                print(f"  {who:16} {spent:9.2f} ms  {ratio:6.1f}x")
        bench.close()
    save("screenshot", {"screenshot_ms": results})


if __name__ == "__main__":
    main()
