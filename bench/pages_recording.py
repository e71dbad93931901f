"""The recording on the page of a run: exactness of the highlight, and a run of 2,000 steps.

``python -m bench.pages_recording`` measures in a real Chromium and writes
``bench/results/pages_recording.json``, of 2,000 steps beside a run of 20. Exits 1 when a goal is
missed while the machine is quiet.
"""

import json
import sys
import tempfile
from bisect import bisect_left
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from deskhand.tools.control_plane import pages
from tests.system.browsing import BrowserConnection, connected, page_of, running_chromium
from tests.system.clock_recording import READ_CLOCK, add_clock_run, clock_video
from tests.tools.control_plane.fakes import (
    TOKEN,
    ControlPlaneFixture,
    control_plane,
    local_socket,
    serving,
)

from .tables import exit_status, is_quiet, save

RATE = 15
SECONDS = 40.0
STEPS = 120
SCENES = {
    "steps_20": (20, True),
    "steps_2000": (2000, False),
    "steps_and_messages_2000": (2000, True),
}
"""Steps of a run, and whether its conversation is shown."""
GOALS = {"first_paint_ms": 500, "longest_task_ms": 50, "elements": 1499}
MOST_FRAMES = {"1x": 1, "4x": 2}
WATCH = f"""(rate) => {{
  const video = document.querySelector("video");
  const read = {READ_CLOCK};
  window.seen = [];
  window.presented = [];
  const frame = (_, {{ mediaTime }}) => {{
    window.presented.push(Math.round(mediaTime * 15));
    video.requestVideoFrameCallback(frame);
  }};
  video.requestVideoFrameCallback(frame);
  new MutationObserver(() => {{
    const number = Number(document.querySelector("#now").textContent.split(" ")[0]);
    if (!video.paused && number) window.seen.push([number, read(video)]);
  }}).observe(document.querySelector("#now"), {{ childList: true, subtree: true }});
  video.currentTime = 0;
  video.playbackRate = rate;
  return video.play();
}}"""
TASKS = """
window.tasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.tasks.push(entry.duration);
}).observe({ type: "longtask", buffered: true });
"""
PAINTED = """() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime"""
BYTES = """() => performance.getEntries().reduce((sum, one) => sum + (one.transferSize || 0), 0)"""
LISTED = """() => document.querySelectorAll("#steps li").length > 5 && performance.now()"""


@asynccontextmanager
async def signed_in(
    connection: BrowserConnection, shown: ControlPlaneFixture, path: str
) -> AsyncIterator[Page]:
    bound, address = local_socket()
    async with serving(shown.app, bound), page_of(connection.browser, 1440, 900) as page:
        await page.add_init_script(TASKS)
        await page.goto(f"http://{address}{path}")
        await page.get_by_label("Code or token").fill(TOKEN)
        await page.get_by_role("button", name="Sign in").click()
        await page.wait_for_url(f"http://{address}{path}")
        yield page


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, round(share * (len(values) - 1)))]


async def frame_errors(connection: BrowserConnection, folder: Path) -> dict[str, Any]:
    """Return how many frames the list changes away from the frame that shows a step."""
    shown = control_plane(folder, pages=[pages.router()])
    video = clock_video(folder / "clock.mp4", SECONDS, RATE)
    chat = add_clock_run(shown, video, SECONDS, STEPS)
    steps = shown.chats.steps_of[chat.id]
    starts = sorted([*(step.video_start or 0.0 for step in steps), SECONDS / 4])
    found: dict[str, Any] = {}
    for rate in (1, 4):
        async with signed_in(connection, shown, f"/runs/{chat.id}") as page:
            await page.wait_for_function("() => document.querySelector('video').readyState >= 3")
            await page.evaluate(WATCH, rate)
            await page.wait_for_function(
                "() => document.querySelector('video').ended", timeout=90_000
            )
            seen = await page.evaluate("window.seen")
            presented = sorted(await page.evaluate("window.presented"))
        # The first frame that a busy browser presents from the begin of a step on shows it.
        first = [bisect_left(presented, starts[number - 1] * RATE - 1e-6) for number, _ in seen]
        errors = [
            abs(frame - presented[min(at, len(presented) - 1)])
            for at, (_, frame) in zip(first, seen, strict=True)
        ]
        found[f"{rate}x"] = {
            "steps": len(errors),
            "p50_frames": percentile(errors, 0.5),
            "p95_frames": percentile(errors, 0.95),
            "max_frames": max(errors),
        }
    return found


async def many_steps(
    connection: BrowserConnection, folder: Path, count: int, *, conversation: bool
) -> dict[str, Any]:
    """Return the figures of a page with ``count`` steps, without and with a slower processor."""
    shown = control_plane(folder, pages=[pages.router()])
    video = clock_video(folder / "many.mp4", 120, 1, (128, 72))
    chat = add_clock_run(shown, video, 120, count)
    if not conversation:
        shown.chats.messages_of[chat.id] = ()
    found: dict[str, Any] = {}
    async with signed_in(connection, shown, f"/runs/{chat.id}") as page:
        client = await page.context.new_cdp_session(page)
        for slower in (1, 4):
            await client.send("Emulation.setCPUThrottlingRate", {"rate": slower})
            await page.reload()
            listed = await (await page.wait_for_function(LISTED)).json_value()
            painted = await page.evaluate(PAINTED)
            for top in range(0, 120_000, 6000):
                await page.evaluate(
                    "(top) => (document.querySelector('#steps-view').scrollTop = top)", top
                )
                await page.evaluate("() => new Promise(requestAnimationFrame)")
            await page.keyboard.press("e")
            await page.evaluate("() => new Promise((done) => setTimeout(done, 300))")
            tasks = await page.evaluate("window.tasks")
            found[f"processor_{slower}x_slower"] = {
                "first_paint_ms": round(painted),
                "list_painted_ms": round(listed),
                "longest_task_ms": round(max(tasks, default=0)),
                "tasks_over_50_ms": len(tasks),
                "bytes": await page.evaluate(BYTES),
                "elements": await page.locator("*").count(),
            }
    return found


def missed(found: dict[str, Any]) -> list[str]:
    """Return the goals that were missed; those of the page hold without throttling."""
    plain = {name: found[name]["processor_1x_slower"] for name in SCENES}
    return [
        *(
            f"frame error at {rate}"
            for rate, most in MOST_FRAMES.items()
            if found["frame_error"][rate]["p95_frames"] > most
        ),
        *(
            f"{goal} of {name}"
            for name, it in plain.items()
            for goal, most in GOALS.items()
            if it[goal] > most
        ),
    ]


def main() -> int:
    with (
        tempfile.TemporaryDirectory() as scratch,
        running_chromium(Path(scratch) / "profile") as address,
        connected(address) as connection,
    ):
        folder = Path(scratch)
        measure = connection.runner.run
        found = {
            "frame_error": measure(frame_errors(connection, folder)),
            **{
                name: measure(many_steps(connection, folder, count, conversation=conversation))
                for name, (count, conversation) in SCENES.items()
            },
        }
    print(json.dumps(found, indent=1))
    save("pages_recording", found)
    return exit_status(missed(found), quiet=is_quiet())


if __name__ == "__main__":
    sys.exit(main())
