"""Measure four commands of one second that a model calls in one reply, and one after another.

Usage: python -m bench.agents_calls [--repeats 5]. ``deskhand up`` with a desktop runs the calls;
the model is a scripted server on loopback. The time is from the reply to the next request of the
model, which has all results; one after another, each call is a reply of its own.
"""

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from deskhand.tools.agents.scripted.script.script import read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.system.services import Service, service

from .tables import save

CALLS = 4
CALL = {"execute": {"command": "sleep 1"}}
REPORT = {"report": {"summary": "Slept.", "outcome": "done"}}
# The desktop and its user are prepared by a call before.
FIRST = {"calls": [{"execute": {"command": "true"}}]}
SCRIPTS: dict[str, list[dict[str, Any]]] = {
    "in one reply": [FIRST, {"calls": [CALL] * CALLS}, REPORT],
    "one after another": [FIRST, *([{"calls": [CALL]}] * CALLS), REPORT],
}


async def measured(repeats: int, folder: Path) -> dict[str, float]:
    """Return the median seconds of each way; the ways take turns."""
    scripts = [read_script(_model(name), {"steps": steps}) for name, steps in SCRIPTS.items()]
    async with ScriptedModelServer(scripts) as server:
        arguments = ("up", "--listen", "127.0.0.1:0", "--data-dir", str(folder / "data"))
        environment = {
            "ANTHROPIC_API_KEY": server.api_key,
            "ANTHROPIC_BASE_URL": server.url,
            "DESKHAND_APPROVAL": "auto",
        }
        # The service is started and asked in threads, as the model answers in this one.
        running = service(folder / "errors", *arguments, environment=environment)
        plane = await asyncio.to_thread(running.__enter__)
        try:
            taken: dict[str, list[float]] = {name: [] for name in SCRIPTS}
            for _ in range(repeats):
                for name, spent in taken.items():
                    spent.append(await _one(server, plane, name))
        finally:
            await asyncio.to_thread(running.__exit__, None, None, None)
    return {name: round(median(spent), 2) for name, spent in taken.items()}


async def _one(server: ScriptedModelServer, plane: Service, name: str) -> float:
    before = len(server.log)
    body = {"prompt": "Sleep.", "mode": "computer_use", "model": _model(name)}
    chat = (await asyncio.to_thread(plane.post, "/api/v0/chats", body))["id"]
    async with asyncio.timeout(120):
        await server.received(before + 2)
        began = time.monotonic()
        await server.received(before + len(SCRIPTS[name]))
        taken = time.monotonic() - began
    await asyncio.to_thread(_archive, plane, f"/api/v0/chats/{chat}")
    return taken


def _archive(plane: Service, path: str) -> None:
    # Only a chat at rest can be archived, which ends its desktop.
    while plane.get(path)["state"] != "waiting":
        time.sleep(0.1)
    plane.post(f"{path}/archive", {})


def _model(name: str) -> str:
    return name.replace(" ", "-")


def main() -> None:
    """Print the seconds and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measured(options.repeats, Path(folder)))
    print(json.dumps(found))
    save("agents_calls", {"seconds": found, "calls": CALLS, "repeats": options.repeats})


if __name__ == "__main__":
    main()
