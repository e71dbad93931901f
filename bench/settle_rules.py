"""Try rules of settling side by side: each judges the same actions on the same screen.

    python -m bench.settle_rules [--trials 200] [--workers 4] [--busy] [--only TEXT,TEXT]

Every trial performs an action of a scene. Each rule gets the damage of that trial as it comes, and
what the screen shows at its verdict is compared with what it shows 2 s after the action, parts that
move by themselves left out. Prints, for each scene and rule, how many of the pictures were wrong
and the median milliseconds from the action to the verdict. With ``--busy`` two processes use both
processors meanwhile.
"""

import argparse
import asyncio
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.desktop.capture.frames import Damage, Frame
from deskhand.desktop.capture.settle import Settle, SettleRule
from deskhand.desktop.display.x_server import SERVICE_AUTHORITY
from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.remote_sync import Desktop

from .settle import CARET_PIXELS, LATER_SECONDS, SCENES, Scene, shown
from .tables import save

KEPT_TRIALS = 200
"""Fewer prove too little: their results are printed only."""
SCALE = 1.5
"""Pixels of the screen for one of the picture."""
CLICKED = Point(120, 216)
"""Where the clicks of the scenes are, in pixels of the screen."""
PANEL = Region(0, 1080 - 48, 1920, 1080)


Make = Callable[[float, tuple[Damage, ...], Point | None], Settle]


def rule(quiet: float, small: float | None = None) -> Make:
    settle = SettleRule(quiet=quiet, small_quiet=quiet if small is None else small)

    def make(started: float, recent: tuple[Damage, ...], clicked: Point | None) -> Settle:
        return Settle(settle, started, recent, margins=(PANEL,), clicked=clicked)

    return make


RULES: dict[str, Make] = {
    "100 ms": rule(0.1),
    "60 ms": rule(0.06),
    "100 ms, small 60": rule(0.1, 0.06),
    "100 ms, small 50": rule(0.1, 0.05),
    "100 ms, small 40": rule(0.1, 0.04),
}


@dataclass
class Judged:
    """Results of one rule in one scene."""

    wrong: int = 0
    taken: list[float] = field(default_factory=list)


def differing(one: Frame, other: Frame, scene: Scene) -> int:
    """Return the number of pixels that differ outside of what moves by itself."""
    differs = (one.pixels[..., :3] != other.pixels[..., :3]).any(axis=2)
    left, top, right, bottom = (int(SCALE * edge) for edge in scene.moving)
    differs[top:bottom, left:right] = False
    return int(np.count_nonzero(differs))


async def trial(
    desktop: Desktop, screen: Framebuffer, scene: Scene
) -> dict[str, tuple[bool, float]]:
    """Perform the action once; return for each rule if its picture is right, and its time."""
    loop = asyncio.get_running_loop()
    with screen.watch() as watch:
        screen.frame()
        started = time.monotonic()
        acting = loop.run_in_executor(None, scene.act, desktop)
        clicked = CLICKED if scene.clicks else None
        waits = {name: make(started, watch.recent(), clicked) for name, make in RULES.items()}
        seen: dict[str, tuple[Frame, float]] = {}
        while len(seen) < len(waits):
            now = time.monotonic()
            due = [name for name, wait in waits.items() if name not in seen and wait.verdict(now)]
            if due:
                frame = screen.frame()
                seen |= dict.fromkeys(due, (frame, now - started))
                continue
            pending = [wait.remaining(now) for name, wait in waits.items() if name not in seen]
            damage = await watch.next(max(0.001, min(pending)))
            if damage is not None:
                for wait in waits.values():
                    wait.painted(damage)
        await acting
    await asyncio.sleep(max(0.0, started + LATER_SECONDS - time.monotonic()))
    later = screen.frame()
    allowed = CARET_PIXELS * SCALE**2
    return {
        name: (differing(frame, later, scene) <= allowed, taken)
        for name, (frame, taken) in seen.items()
    }


def work(count: int, only: str, results: "multiprocessing.Queue[object]") -> None:
    """Perform every trial of one worker, on a desktop of its own."""
    environment = {**os.environ, "DESKHAND_NAMESPACES": "off"}
    with Desktop.launch(environment=environment) as desktop:
        folder = Path(desktop.run("cd && pwd").output.strip()).parent
        display = desktop.run("echo $DISPLAY").output.strip()
        with Framebuffer(display, folder / SERVICE_AUTHORITY) as screen:
            for scene in SCENES:
                if not any(text in scene.name for text in only.split(",")):
                    continue
                with shown(desktop, scene.page):
                    for _ in range(count):
                        found = asyncio.run(trial(desktop, screen, scene))
                        for chord in scene.after:
                            desktop.keyboard.press(chord, observe=True)
                        results.put((scene.name, found))
    results.put(None)


@contextmanager
def busy(wanted: bool) -> Iterator[None]:
    """Use both processors until the block ends."""
    endless = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(endless) for _ in range(2 if wanted else 0)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=KEPT_TRIALS)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    results = spawn.Queue()
    share = asked.trials // asked.workers
    workers = [
        spawn.Process(target=work, args=(share, asked.only, results)) for _ in range(asked.workers)
    ]
    found: dict[str, dict[str, Judged]] = {}
    with busy(asked.busy):
        for worker in workers:
            worker.start()
        left = asked.workers
        while left:
            result = results.get()
            if result is None:
                left -= 1
                continue
            scene, judged = result
            for name, (right, taken) in judged.items():
                row = found.setdefault(scene, {}).setdefault(name, Judged())
                row.wrong += not right
                row.taken.append(taken)
        for worker in workers:
            worker.join()
    table = {
        scene: {
            name: {"wrong": row.wrong, "of": len(row.taken), "ms": round(1000 * median(row.taken))}
            for name, row in rules.items()
        }
        for scene, rules in found.items()
    }
    for scene, rules in table.items():
        print(scene)
        for name, facts in rules.items():
            print(f"  {name:20} wrong {facts['wrong']:3} of {facts['of']:3} {facts['ms']:6} ms")
    if asked.trials >= KEPT_TRIALS:
        save("settle_rules_busy" if asked.busy else "settle_rules", {"scenes": table})


if __name__ == "__main__":
    main()
