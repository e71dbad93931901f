"""Time to read the widgets of a page of 5,200 buttons: ``python -m bench.accessibility [TRIALS]``.

The page is in the desktop's own browser; the tree is read as JSON, as lines of text and as the XML
of OSWorld, in turns.
"""

import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.tables import save
from tests.system.reporting_page import reporting_page
from tests.system.services import Service, tidy, until
from tests.system.wide_page import WIDGETS, names, page

TRIALS = 10
WAYS = {
    "JSON": "/api/v0/desktop/accessibility",
    "text, first page": "/api/v0/desktop/accessibility/text",
    "XML of OSWorld": "/api/v0/desktop/as/osworld/accessibility",
}


def opened(desktop: Service, url: str) -> None:
    """Open the page in a browser that reports its pages."""
    desktop.get(WAYS["JSON"])
    desktop.post("/api/v0/desktop/open", {"url": url})
    until(lambda: names()[-1] in desktop.http.get(WAYS["JSON"]).text, "the last button of the page")


def measured(desktop: Service, trials: int) -> dict[str, list[float]]:
    """Return the seconds of each way, taken in turns."""
    spent: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(trials):
        for name, path in WAYS.items():
            began = time.perf_counter()
            desktop.http.get(path).raise_for_status()
            spent[name].append(time.perf_counter() - began)
    return spent


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    with (
        TemporaryDirectory() as name,
        tidy(Path(name) / "errors.log", "--speak", "osworld") as desktop,
        reporting_page(page()) as (url, _),
    ):
        opened(desktop, url)
        spent = measured(desktop, trials)
        shown = desktop.http.get(WAYS["XML of OSWorld"]).json()["AT"]
        assert all(name in shown for name in names())
    found = {
        way: {"median_s": round(median(each), 2), "quickest_s": round(min(each), 2)}
        for way, each in spent.items()
    }
    for way, seconds in found.items():
        print(f"{way:20} {seconds}")
    save("accessibility", {"widgets": WIDGETS, "trials": trials, "ways": found})


if __name__ == "__main__":
    main()
