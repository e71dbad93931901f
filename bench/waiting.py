"""Time from an event on the screen to the answer of a wait: ``python -m bench.waiting [TRIALS]``.

A page changes its text, title and address at a random moment and reports that moment. Our way is
one request to wait for it; the peers' way is a screenshot every 2 s, as their agents take it, here
without the time of the model. Both see the same events, in turns.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from bench.tables import save
from tests.system.reporting_page import Reports, reporting_page
from tests.system.services import Service, tidy, until

TRIALS = 100
POLL_SECONDS = 2.0
WAIT = "/api/v0/desktop/wait-for"
TEXT = "/api/v0/desktop/accessibility/text"
PAGE = b"""<title>Bench</title><h1 id=state>None</h1><script>
addEventListener('keydown', e => setTimeout(() => {
  state.textContent = 'Number ' + e.key; document.title = 'Title ' + e.key;
  history.replaceState(0, '', '#' + e.key);
  fetch('/changed', {method: 'POST', body: String(Date.now())})
}, 200 + Math.random() * 800))</script>"""
KINDS = ("text", "window", "url", "changed_region")
KEYS = "abcdefghijklmnopqrstuvwxyz"


def ours(desktop: Service, kind: str, key: str) -> float:
    """Wait with one request; return the time of its answer."""
    wanted = {
        "text": f"Number {key}",
        "window": f"Title {key}",
        "url": f"#{key}",
        "changed_region": [0, 60, 1280, 200],
    }
    found = desktop.post(WAIT, {kind: wanted[kind], "timeout_seconds": 20})
    assert found["met"], found
    return time.time()


def polling(desktop: Service, kind: str, key: str) -> float:
    """Take screenshots at an interval until the event is visible; return the time of the last."""
    while True:
        time.sleep(POLL_SECONDS)
        desktop.http.get("/api/v0/desktop/screenshot").raise_for_status()
        taken = time.time()
        # The model would see the text in the picture.
        if f"Number {key}" in desktop.get(TEXT)["text"]:
            return taken


def delay(
    way: Callable[[Service, str, str], float],
    desktop: Service,
    reports: Reports,
    kind: str,
    key: str,
) -> float:
    """Return the milliseconds from one event to the answer of a way."""
    desktop.act(action="key", text=key)
    answered = way(desktop, kind, key)
    _, moment = reports.get(timeout=20)
    return max(0.0, answered * 1000 - float(moment))


def summary(delays: Sequence[float]) -> dict[str, float]:
    """Return median and 95th percentile of delays."""
    return {"median_ms": round(median(delays), 1), "p95_ms": round(quantiles(delays, n=20)[-1], 1)}


def measured(desktop: Service, reports: Reports, trials: int) -> dict[str, dict[str, float]]:
    """Return the delays of each way."""
    taken: dict[str, list[float]] = {"wait_for": [], "screenshot every 2 s": []}
    for trial in range(trials):
        kind, key = KINDS[trial % len(KINDS)], KEYS[trial % len(KEYS)]
        taken["wait_for"].append(delay(ours, desktop, reports, kind, key))
        # A tenth suffices for the way that takes seconds.
        if trial % 10 == 0:
            other = KEYS[(trial + 13) % len(KEYS)]
            taken["screenshot every 2 s"].append(delay(polling, desktop, reports, kind, other))
        time.sleep(random.uniform(0, 0.2))
    return {name: summary(delays) for name, delays in taken.items()}


def main(trials: int) -> None:
    """Measure, print and save."""
    with (
        TemporaryDirectory() as folder,
        tidy(Path(folder) / "errors.log") as desktop,
        reporting_page(PAGE) as (url, reports),
    ):
        desktop.get("/api/v0/desktop/accessibility")
        desktop.post("/api/v0/desktop/open", {"url": url})
        until(lambda: "None" in desktop.get(TEXT)["text"], "the page")
        desktop.act(action="left_click", coordinate=[640, 400])
        found = measured(desktop, reports, trials)
    for name, one in found.items():
        print(f"{name:24} median {one['median_ms']:8.1f} ms   p95 {one['p95_ms']:8.1f} ms")
    save("waiting", {"trials": trials, **found})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS)
