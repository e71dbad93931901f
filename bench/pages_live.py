"""Twelve tabs beside a wall of 20 desktops and two live views: painting, actions, idle cost.

    python -m bench.pages_live

Measures in a real Chromium on a real control plane with 20 real desktops, and writes
``bench/results/pages_live.json``. All tabs are loaded at the same moment, first twelve of the home
page, then seven of them with four paused recordings of 100 MB and one that grows. The baseline is
the same number of tabs of a page without content. Exits 1 when a goal is missed while the machine
is quiet.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from playwright.async_api import Browser, BrowserContext, CDPSession, Page

from bench.fleet import spent
from tests.system.browsing import chromium, running_chromium
from tests.system.gated_model import gated_model, held_agent_steps, plane_of
from tests.system.recorded_runs import add_recorded_runs, noisy_video
from tests.system.services import Service

from .tables import exit_status, is_quiet, save

DESKTOPS, TABS, LIVE_VIEWS = 20, 12, 2
RECORDED = ("r1", "r2", "r3", "r4")
RECORDING_BYTES = 100_000_000
IDLE_SECONDS = 20.0
RENAMES = 5
GOALS = {
    **{"painted_ms": 2000.0, "recordings_painted_ms": 2000.0},
    **{"action_ms": 300.0, "action_with_recordings_ms": 300.0},
    **{"service_percent": 1.0, "page_percent": 1.0},
}

WALL = f"""() => {{
  const images = [...document.querySelectorAll("#desktops img")];
  // A tab in the background lists the desktops, and gets no pictures.
  const seen = document.hidden || images.every((one) => one.naturalWidth > 0);
  return images.length >= {DESKTOPS} && seen;
}}"""
LIVE = """() => {
  const canvas = document.querySelector("canvas");
  if (!canvas?.width) return false;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, index) => index % 4 < 3 && value !== data[index % 4]);
}"""
PAUSED = """() => {
  const video = document.querySelector("video");
  return video?.paused && video.readyState >= 2 && video.videoWidth > 0;
}"""
WORKING = """() => document.querySelector("#conversation, #steps")?.textContent.length > 20"""
EMPTY = "() => document.body?.children.length > 0"
SEEN = """(text) => new Promise((done) => {
  const shown = () => document.body.textContent.includes(text) && (done(Date.now()), true);
  if (!shown()) {
    const observer = new MutationObserver(() => shown() && observer.disconnect());
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  }
})"""
RENAME = """async ([path, title]) => {
  const begun = Date.now();
  await fetch(path, {
    method: "PATCH",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ title }),
  });
  return begun;
}"""


@dataclass(frozen=True)
class Tab:
    """An address, and the function of the page that is true when it is painted."""

    path: str
    painted: str


HOME = Tab("/", WALL)


async def painted(
    context: BrowserContext, base: str, tabs: Sequence[Tab]
) -> tuple[float, list[Page]]:
    """Load all tabs at the same moment; return the milliseconds until the last is painted."""
    pages = [await context.new_page() for _ in tabs]
    begun = time.perf_counter()

    async def load(page: Page, tab: Tab) -> None:
        await page.goto(f"{base}{tab.path}", wait_until="commit")
        await page.wait_for_function(tab.painted, polling=50, timeout=60_000)

    await asyncio.gather(*(load(page, tab) for page, tab in zip(pages, tabs, strict=True)))
    return 1000 * (time.perf_counter() - begun), pages


async def action_ms(pages: Sequence[Page], chat_id: str) -> float:
    """Rename a chat in the first tab; return the most milliseconds until a tab shows it."""
    longest = 0.0
    for number in range(RENAMES):
        title = f"renamed {number} of {chat_id}"
        waits = [asyncio.ensure_future(page.evaluate(SEEN, title)) for page in pages]
        # The observers are at work before the action.
        await asyncio.gather(*(page.evaluate("1") for page in pages))
        begun = await pages[0].evaluate(RENAME, [f"/api/v0/chats/{chat_id}", title])
        seen = await asyncio.gather(*waits)
        longest = max(longest, max(seen) - begun)
        # The tabs read again what changed; the next action is one of its own.
        await asyncio.sleep(2.0)
    return longest


async def closed(pages: Sequence[Page]) -> None:
    await asyncio.gather(*(page.close() for page in pages))


def own_seconds(pid: int) -> float:
    """Return the processor time of one process so far."""
    return spent(psutil.Process(pid))


async def task_seconds(client: CDPSession) -> float:
    """Return the time that the main thread of a page has worked since it was enabled."""
    metrics = (await client.send("Performance.getMetrics"))["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


async def idle_cost(context: BrowserContext, plane: Service) -> dict[str, float]:
    """Return what one wall costs while nothing happens, in percent of a core."""
    before = own_seconds(plane.process.pid)
    await asyncio.sleep(IDLE_SECONDS)
    alone = own_seconds(plane.process.pid) - before
    _, pages = await painted(context, plane.url, [HOME])
    await asyncio.sleep(3.0)
    client = await context.new_cdp_session(pages[0])
    await client.send("Performance.enable", {"timeDomain": "threadTicks"})
    service, page = own_seconds(plane.process.pid), await task_seconds(client)
    await asyncio.sleep(IDLE_SECONDS)
    service = own_seconds(plane.process.pid) - service
    page = await task_seconds(client) - page
    await closed(pages)
    return {
        "service_without_a_page_percent": round(100 * alone / IDLE_SECONDS, 2),
        "service_percent": round(100 * max(0.0, service - alone) / IDLE_SECONDS, 2),
        "page_percent": round(100 * page / IDLE_SECONDS, 2),
    }


async def signed_in(browser: Browser, plane: Service) -> BrowserContext:
    context = await browser.new_context(viewport={"width": 1440, "height": 2600})
    page = await context.new_page()
    code = plane.post("/api/v0/login/codes", {})["code"]
    await page.goto(f"{plane.url}/login?next=/#code={code}")
    await page.wait_for_url(f"{plane.url}/")
    await page.close()
    return context


async def measured(address: str, plane: Service, working: str) -> dict[str, Any]:
    """Measure all scenes; ``working`` is the id of a run whose recording grows."""
    desktops = [one["id"] for one in plane.get("/api/v0/desktops")["desktops"]]
    live = [Tab(f"/desktops/{one}", LIVE) for one in desktops[:LIVE_VIEWS]]
    recorded = [Tab(f"/runs/{one}", PAUSED) for one in RECORDED]
    run = Tab(f"/runs/{working}", WORKING)
    mixed = [*[HOME] * (TABS - len(recorded) - 1), run, *recorded]
    found: dict[str, Any] = {"desktops": len(desktops)}
    async with chromium(address) as browser:
        context = await signed_in(browser, plane)
        # The first visit fills the caches of the browser and of the service.
        _, pages = await painted(context, plane.url, [HOME])
        await closed(pages)
        empty = [Tab("/no-such-page", EMPTY)] * (TABS + LIVE_VIEWS)
        took, pages = await painted(context, plane.url, empty)
        await closed(pages)
        found["empty_tabs_ms"] = round(took)
        took, pages = await painted(context, plane.url, [*[HOME] * TABS, *live])
        found["painted_ms"] = round(took)
        hidden = [await page.evaluate("document.hidden") for page in pages]
        found["tabs_in_front"] = hidden.count(False)
        found["action_ms"] = round(await action_ms(pages[:TABS], working))
        await closed(pages)
        took, pages = await painted(context, plane.url, [*mixed, *live])
        found["recordings_painted_ms"] = round(took)
        shown = pages[: TABS - len(recorded)]
        found["action_with_recordings_ms"] = round(await action_ms(shown, working))
        await closed(pages)
        found |= await idle_cost(context, plane)
        await context.close()
    return found


def main() -> int:
    with tempfile.TemporaryDirectory() as name, gated_model(held_agent_steps(), 1) as model:
        folder = Path(name)
        video = folder / "noise.mp4"
        seconds = noisy_video(video, RECORDING_BYTES)
        video_bytes = video.stat().st_size
        add_recorded_runs(folder / "data", RECORDED, video, seconds)
        with (
            plane_of(folder, model, "plane") as plane,
            running_chromium(folder / "chromium") as address,
        ):
            task = {"title": "at work", "prompt": "paint", "mode": "computer_use"}
            working = plane.post("/api/v0/chats", task)["id"]
            model.gates[1].wait()
            with ThreadPoolExecutor(4) as pool:
                names = [{"name": f"desktop {number}"} for number in range(DESKTOPS - 1)]
                list(pool.map(lambda body: plane.post("/api/v0/desktops", body), names))
            found = asyncio.run(measured(address, plane, working))
            model.gates[1].open()
    found["recording_bytes"] = video_bytes
    for key, value in found.items():
        goal = f"  (goal: at most {GOALS[key]:g})" if key in GOALS else ""
        print(f"{key:36} {value}{goal}")
    save("pages_live", found)
    return exit_status([key for key, most in GOALS.items() if found[key] > most], quiet=is_quiet())


if __name__ == "__main__":
    sys.exit(main())
