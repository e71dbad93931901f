"""Measure playbooks: ten flows, each run once by a scripted model, saved, and replayed.

``python -m bench.playbooks [--flows form,menu] [--think 2.0] [--replays 3]``

The model thinks for some seconds before each reply, as models do. Each flow is replayed on the
whole screen and in a window of another size, and must make no request to a model. Then its target
is moved, renamed and restyled at once: the replay must heal exactly one step. ``playbook_times``
describes the durations that are compared.
"""

import argparse
import asyncio
import json
import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from starlette.responses import Response

from deskhand.tools.agents.scripted.script.endpoint import Endpoint
from deskhand.tools.agents.scripted.script.library import parse_script
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.request import Request
from deskhand.tools.agents.scripted.script.script import Fault
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.system.services import Service, service

from .playbook_flows import FLOWS, PASSWORD, SECRET, Flow, PageServer, healing, page_server
from .playbook_times import RunTimes, compared, median_times, run_times
from .tables import RESULTS, save

Json = dict[str, Any]

WINDOW = "browser --window-size=1000,640 --window-position=60,40"
"""Command that opens the browser in a smaller window."""
LIMIT = 180.0
SHOW = bool(os.environ.get("BENCH_SHOW_PLAYBOOKS"))
"""True to print each playbook as it is saved."""


class ThinkingModel(ScriptedModelServer):
    """The scripted model: thinks before each reply, and counts its requests."""

    def __init__(self, scripts: dict[str, Json], think: float) -> None:
        super().__init__([parse_script(name, repr(one)) for name, one in scripts.items()])
        self.think = think
        self.requests = 0

    def heals(self, flow: Flow) -> None:
        """Answer questions for the target of a healed step as for this flow."""
        self.add(parse_script("heal", repr(healing(flow))))

    async def _deliver(
        self,
        endpoint: Endpoint,
        turn: PlayedTurn,
        request: Request,
        fault: Fault | None,
        dropped: Sequence[Json],
    ) -> Response:
        self.requests += 1
        await asyncio.sleep(self.think)
        return await super()._deliver(endpoint, turn, request, fault, dropped)


@contextmanager
def thinking_model(scripts: dict[str, Json], think: float) -> Iterator[ThinkingModel]:
    """Serve the model in a thread while the block runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:

        async def entered() -> ThinkingModel:
            return await ThinkingModel(scripts, think).__aenter__()

        model = asyncio.run_coroutine_threadsafe(entered(), loop).result(20)
        try:
            yield model
        finally:
            asyncio.run_coroutine_threadsafe(model.__aexit__(None), loop).result(20)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def flow_plane(folder: Path, think: float) -> Iterator[tuple[Service, ThinkingModel, PageServer]]:
    """Run a control plane whose model has the scripts of all flows."""
    with page_server() as pages:
        scripts = {flow.name: flow.script(pages.address(flow)) for flow in FLOWS}
        with thinking_model({**scripts, "heal": healing(FLOWS[0])}, think) as model:
            environment = {
                "ANTHROPIC_API_KEY": model.api_key,
                "ANTHROPIC_BASE_URL": model.url,
                "DESKHAND_APPROVAL": "auto",
                "DESKHAND_EGRESS_GRANTS": f"127.0.0.1:{pages.server.server_port}",
            }
            with service(
                folder / "plane.log",
                *("up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0"),
                *("--model", "heal"),
                environment=environment,
            ) as plane:
                answer = plane.http.put(
                    f"/api/v0/secrets/{SECRET}", json={"value": PASSWORD, "anywhere": True}
                )
                assert answer.is_success, answer.text
                yield plane, model, pages


def awaited(plane: Service, chat: str) -> Json:
    """Return the result of a chat when its run has ended."""
    return plane.tool("wait_agent", chat_id=chat, timeout_seconds=LIMIT)


def scripted_run(plane: Service, flow: Flow) -> tuple[str, RunTimes]:
    """Run a flow by its script; return the chat and its times."""
    spawned = plane.tool("spawn_computer_use_agent", prompt=flow.name, model=flow.name)
    result = awaited(plane, spawned["chat_id"])
    assert result.get("outcome") == "done", (flow.name, result)
    return spawned["chat_id"], times_of(plane, spawned["chat_id"])


def saved(plane: Service, flow: Flow, chat: str) -> str:
    """Save a run as a playbook; return its text."""
    body = {"run": chat, "name": flow.name, "replace": True}
    found = plane.post("/api/v0/playbooks", body)
    return str(found["yaml"])


def replayed(plane: Service, name: str) -> tuple[Json, RunTimes]:
    """Replay a playbook; return the result of its run, and its times."""
    spawned = plane.post(f"/api/v0/playbooks/{name}/runs", {})
    result = awaited(plane, spawned["chat_id"])
    return result, times_of(plane, spawned["chat_id"])


def times_of(plane: Service, chat: str) -> RunTimes:
    """Return the times of a chat whose run has ended."""
    return run_times(plane.get(f"/api/v0/chats/{chat}"))


def in_window(text: str) -> str:
    """Return a playbook that opens its page in a smaller window."""
    content: Json = yaml.safe_load(text)
    content["start"] = {"command": f"{WINDOW} {content['start']['url']}"}
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def measured(
    plane: Service, model: ThinkingModel, pages: PageServer, flow: Flow, replays: int
) -> Json:
    """Run, save and replay one flow; return its figures."""
    pages.changed = False
    before = model.requests
    chat, scripted = scripted_run(plane, flow)
    requests = model.requests - before
    text = saved(plane, flow, chat)
    if SHOW:
        print(text)
    found: Json = {}
    times: dict[str, list[RunTimes]] = {}
    before = model.requests
    for size, shown in (("screen", text), ("window", in_window(text))):
        plane.post("/api/v0/playbooks", {"yaml": shown, "replace": True})
        results = [replayed(plane, flow.name) for _ in range(replays)]
        times[size] = [one for _, one in results]
        passed = sum(result.get("outcome") == "done" for result, _ in results)
        found[size] = {
            "passed": f"{passed}/{replays}",
            "failures": [r.get("report") for r, _ in results if r.get("outcome") != "done"],
        }
    found["model_requests"] = model.requests - before
    found |= compared(scripted, median_times(times["screen"]), model.think, requests)
    plane.post("/api/v0/playbooks", {"yaml": text, "replace": True})
    return found


def healed(plane: Service, model: ThinkingModel, pages: PageServer, flow: Flow) -> Json:
    """Replay a saved flow after a change of its page; return how it was healed."""
    pages.changed = True
    model.heals(flow)
    before = model.requests
    found, _ = replayed(plane, flow.name)
    pages.changed = False
    return {
        "outcome": found.get("outcome"),
        "healed_steps": model.requests - before,
        "report": found.get("report"),
    }


def main() -> None:
    """Print the figures of the flows and write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--flows", default=",".join(flow.name for flow in FLOWS))
    parser.add_argument("--think", type=float, default=2.0)
    parser.add_argument("--replays", type=int, default=3)
    arguments = parser.parse_args()
    wanted = arguments.flows.split(",")
    # Flows that are measured again replace their own results only.
    path = RESULTS / "playbooks.json"
    flows: Json = json.loads(path.read_text())["flows"] if len(wanted) < len(FLOWS) else {}
    results: Json = {"think_seconds": arguments.think, "flows": flows}
    with (
        tempfile.TemporaryDirectory() as folder,
        flow_plane(Path(folder), arguments.think) as (plane, model, pages),
    ):
        for flow in (one for one in FLOWS if one.name in wanted):
            try:
                found = measured(plane, model, pages, flow, arguments.replays)
                found["changed"] = healed(plane, model, pages, flow)
                flows[flow.name] = {"load_1m": round(os.getloadavg()[0], 1), **found}
            except AssertionError as error:
                flows[flow.name] = {"error": str(error)}
            print(f"{flow.name:10}", json.dumps(flows[flow.name]), flush=True)
            save("playbooks", results)


if __name__ == "__main__":
    main()
