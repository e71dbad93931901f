"""Measure what the target of a click costs: the latency of clicks with and without it.

``python -m bench.playbook_targets [--clicks 20]``

The page has a table of 60 rows. A pause before each click, in which a model would think, is time to
read the widgets. ``find-patch`` searches the whole screen.
"""

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from tests.system.services import Service, service, until

from .playbook_flows import FLOWS, page_server
from .tables import save

PAUSE = 1.0
PLACE = (900, 300)


def click(desktop: Service, *, targets: bool) -> tuple[float, Any]:
    """Click a place where nothing happens; return the milliseconds and the target."""
    observe = {"screenshot": False, "settle": False, "targets": targets}
    began = time.perf_counter()
    done = desktop.act(action="left_click", coordinate=list(PLACE), observe=observe)
    return (time.perf_counter() - began) * 1000, done.get("targets")


def main() -> None:
    """Print the figures and write them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clicks", type=int, default=20)
    clicks = parser.parse_args().clicks
    table = next(flow for flow in FLOWS if flow.name == "table")
    with (
        tempfile.TemporaryDirectory() as folder,
        page_server() as pages,
        service(Path(folder) / "desktop.log", "desktop") as desktop,
    ):
        desktop.get("/api/v0/desktop/accessibility")
        desktop.post("/api/v0/desktop/open", {"url": pages.address(table)})
        wanted = {"text": "Request 9", "timeout_seconds": 5, "screenshot": False}
        until(lambda: desktop.post("/api/v0/desktop/wait-for", wanted)["met"], "the page")
        taken: dict[bool, list[float]] = {True: [], False: []}
        known = 0
        for number in range(2 * clicks):
            targets = number % 2 == 0
            time.sleep(PAUSE)
            spent, found = click(desktop, targets=targets)
            taken[targets].append(spent)
            known += bool(targets and found and found[0])
        began = time.perf_counter()
        tree = desktop.get("/api/v0/desktop/accessibility")
        reading = (time.perf_counter() - began) * 1000
        observe = {"screenshot": False, "targets": True}
        time.sleep(PAUSE)
        done = desktop.act(action="mouse_move", coordinate=[60, 85], observe=observe)
        searching = None
        if done["targets"][0] and "patch" in done["targets"][0]:
            body = {
                "patch": done["targets"][0]["patch"],
                "point": done["targets"][0]["patch_point"],
            }
            began = time.perf_counter()
            desktop.post("/api/v0/desktop/find-patch", body)
            searching = round((time.perf_counter() - began) * 1000, 1)
    figures = {
        "click_ms": round(median(taken[False]), 1),
        "click_with_target_ms": round(median(taken[True]), 1),
        "targets_known": f"{known}/{clicks}",
        "reading_of_all_widgets_ms": round(reading, 1),
        "find_patch_1920x1080_ms": searching,
        "applications": len(tree["applications"]),
    }
    for name, value in figures.items():
        print(f"{name:28} {value}")
    save("playbook_targets", figures)


if __name__ == "__main__":
    main()
