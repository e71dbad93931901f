"""The page of all runs over 10,000 runs: first paint, a search, and memory after 50 pages.

    python -m bench.pages_runs

Measures in a real Chromium on a real control plane, and writes ``bench/results/pages_runs.json``.
The baselines are a page without content, and a search by a client that reads all runs. Exits 1 when
a goal is missed while the machine is quiet.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from deskhand.tools.store.database import Store
from tests.system.browsing import plain_connection, plain_page, running_chromium
from tests.system.services import Service, service
from tests.system.test_whole_browser import sign_in

from .run_list import CHATS, fill
from .tables import exit_status, is_quiet, save

PAGES = 50
SEARCHES = ("lamps 42", "shop order 77", "Order 5 of", "lamps", "order 9999", "zebra")
FIRST_PAINT_GOAL, SEARCH_GOAL = 500.0, 200.0
"""Milliseconds."""
MEMORY_GOAL = 1.25
"""Memory after 50 pages, as a multiple of that after five."""

PAINTED = """() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime"""
SEARCH = """(text) => new Promise((done) => {
  const begun = performance.now();
  const box = document.querySelector("#q");
  new MutationObserver((_, observer) => {
    if (document.querySelector("#list .card, #runs-none:not([hidden])")) {
      observer.disconnect();
      requestAnimationFrame(() => done(performance.now() - begun));
    }
  }).observe(document.querySelector("main"), { childList: true, subtree: true, attributes: true });
  box.value = text;
  box.form.requestSubmit();
})"""
SCROLL = """async (pages) => {
  for (let page = 0; page < pages; page += 1) {
    const before = document.querySelectorAll(".run-page").length;
    scrollTo(0, document.documentElement.scrollHeight);
    while (document.querySelectorAll(".run-page").length === before) {
      await new Promise((done) => setTimeout(done, 20));
    }
  }
}"""


def heap(page: Page) -> float:
    """Return the used heap of the page in MiB, after a collection of garbage."""
    client = page.context.new_cdp_session(page)
    client.send("HeapProfiler.collectGarbage")
    usage: dict[str, float] = client.send("Runtime.getHeapUsage")
    client.detach()
    return usage["usedSize"] / 2**20


def paint_ms(page: Page, address: str, shown: str) -> float:
    """Return the median milliseconds until the first paint of a page."""
    paints = []
    for _ in range(5):
        page.goto(address)
        page.wait_for_selector(shown)
        paints.append(page.evaluate(PAINTED))
    return float(round(statistics.median(paints)))


def search_by_client(plane: Service) -> float:
    """Return the milliseconds in which a client reads all runs and compares their texts."""
    begun = time.perf_counter()
    answer = plane.get("/api/v0/chats?limit=100")
    while answer["next_cursor"]:
        answer = plane.get(f"/api/v0/chats?limit=100&cursor={answer['next_cursor']}")
    return round(1000 * (time.perf_counter() - begun))


def measured(page: Page, url: str) -> dict[str, Any]:
    """Measure the page, on which a person has signed in."""
    empty = paint_ms(page, f"{url}/no-such-page", "body")
    first = paint_ms(page, f"{url}/runs", "#list .card")
    searches = [page.evaluate(SEARCH, text) for text in SEARCHES]
    page.goto(f"{url}/runs")
    page.wait_for_selector("#list .card")
    page.evaluate(SCROLL, 5)
    early = heap(page)
    page.evaluate(SCROLL, PAGES - 5)
    late = heap(page)
    return {
        "runs": CHATS,
        "first_paint_ms": round(first),
        "empty_paint_ms": round(empty),
        "search_ms": {text: round(ms) for text, ms in zip(SEARCHES, searches, strict=True)},
        "heap_mib_after_5_pages": round(early, 1),
        "heap_mib_after_50_pages": round(late, 1),
        "cards_after_50_pages": page.locator("#list .card").count(),
        "elements_after_50_pages": page.locator("*").count(),
    }


async def filled(data: Path) -> None:
    async with await Store.open(data / "deskhand.db") as store:
        await store.write(fill)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        asyncio.run(filled(data))
        arguments = ("up", "--data-dir", str(data), "--listen", "127.0.0.1:0")
        with (
            service(Path(folder) / "log", *arguments) as plane,
            running_chromium(Path(folder) / "chromium") as address,
            plain_connection(address) as browser,
            plain_page(browser, 1440, 900) as page,
        ):
            sign_in(plane, page, "/runs")
            found = measured(page, plane.url)
            found["search_by_client_ms"] = search_by_client(plane)
    for name, value in found.items():
        print(f"{name}: {value}")
    save("pages_runs", found)
    growth = found["heap_mib_after_50_pages"] / found["heap_mib_after_5_pages"]
    missed = [
        name
        for name, is_missed in {
            "first paint": found["first_paint_ms"] > FIRST_PAINT_GOAL,
            "search": max(found["search_ms"].values()) > SEARCH_GOAL,
            "memory": growth > MEMORY_GOAL,
        }.items()
        if is_missed
    ]
    return exit_status(missed, quiet=is_quiet())


if __name__ == "__main__":
    sys.exit(main())
