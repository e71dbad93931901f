"""The page of a run with hostile and huge content: its longest task.

The content is that of ``tests/system/test_run_page.py``: script tags and ``javascript:`` links,
200 kB of output in the colours of a terminal, and a message of 100,000 characters.
``python -m bench.pages_conversation`` measures in a real Chromium and writes
``bench/results/pages_conversation.json``. Exits 1 when a task without throttling is
longer than 50 ms while the machine is quiet.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from deskhand.tools.control_plane import pages
from tests.system.browsing import BrowserConnection, connected, running_chromium
from tests.system.test_run_page import with_hostile_run
from tests.tools.control_plane.fakes import control_plane

from .pages_recording import PAINTED, signed_in
from .tables import exit_status, is_quiet, save

PHASES = ("opened", "all_of_the_message", "output")
LONGEST_TASK_MS = 50
DRAWN = "() => document.querySelector('.show-all')"
PIECES = "() => document.querySelectorAll('#conversation .piece').length > 15"
COLOURED = "() => document.querySelector('#step-box .output-line .fg1')"
SETTLED = "() => new Promise((done) => setTimeout(done, 500))"


async def harm(connection: BrowserConnection, folder: Path) -> dict[str, Any]:
    """Return the tasks of the page: while it opens, with all pieces, and with a step's output."""
    shown = control_plane(folder, pages=[pages.router()])
    chat = with_hostile_run(shown)
    found: dict[str, Any] = {}
    async with signed_in(connection, shown, f"/runs/{chat}") as page:
        client = await page.context.new_cdp_session(page)
        for slower in (1, 4):
            await client.send("Emulation.setCPUThrottlingRate", {"rate": slower})
            await page.goto(page.url.partition("#")[0])
            # Playwright looks for roles in tasks of the page, which would be measured.
            await page.wait_for_function(DRAWN)
            await page.evaluate(SETTLED)
            phases = {"opened": await page.evaluate("window.tasks.splice(0)")}
            await page.evaluate("document.querySelector('.show-all').click()")
            await page.wait_for_function(PIECES)
            await page.evaluate(SETTLED)
            phases["all_of_the_message"] = await page.evaluate("window.tasks.splice(0)")
            await page.evaluate("document.querySelector('.card-details').click()")
            await page.wait_for_function(COLOURED)
            await page.evaluate(SETTLED)
            phases["output"] = await page.evaluate("window.tasks.splice(0)")
            found[f"processor_{slower}x_slower"] = {
                "first_paint_ms": round(await page.evaluate(PAINTED)),
                **{
                    name: {
                        "longest_task_ms": round(max(tasks, default=0)),
                        "tasks_over_50_ms": len(tasks),
                    }
                    for name, tasks in phases.items()
                },
            }
    return found


def main() -> int:
    with (
        tempfile.TemporaryDirectory() as scratch,
        running_chromium(Path(scratch) / "profile") as address,
        connected(address) as connection,
    ):
        found = connection.runner.run(harm(connection, Path(scratch)))
    print(json.dumps(found, indent=1))
    save("pages_conversation", found)
    plain = found["processor_1x_slower"]
    missed = [name for name in PHASES if plain[name]["longest_task_ms"] > LONGEST_TASK_MS]
    return exit_status(missed, quiet=is_quiet())


if __name__ == "__main__":
    sys.exit(main())
