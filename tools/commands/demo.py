"""`deskhand demo`: the main job end to end, on a page of its own."""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused
from deskhand.tools.client.running_plane import default_data_dir
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.demo.site import Findings, demo_site

from .exit_status import FAILED, NOT_STARTED
from .terminal import START_ERRORS, print_error, print_json, print_line
from .terminal import settings as read_settings
from .up import Running, running

PARENT = "scripted:demo-parent"
SQUARES = 5
AT_REST = ("waiting", "error", "requires_action")

Json = dict[str, Any]
Print = Callable[[str], None]

TASK = (
    "Use an agent with a desktop of its own for this. Open {url} in the browser, full screen "
    "(`browser --kiosk`). Five coloured squares of 4x4 pixels appear one after another, in the "
    "corners and in the centre: click each of them once and nothing else. Then fill in the form "
    "with a name and a comment, send it, and report."
)


def main(model: str | None, data_dir: Path | None, listen: str | None, as_json: bool) -> int:
    """Run the demo; return 0 if every square was hit and the form was sent once."""
    try:
        settings = read_settings(
            # A data directory of its own keeps the demo out of the user's chats, and lets it run
            # beside `deskhand up`, which holds the lock of the usual one.
            {"data_dir": data_dir or default_data_dir() / "demo", "listen": listen}
        )
        return asyncio.run(_demo(settings, model, listen is None, as_json))
    except START_ERRORS as error:
        print_error(str(error))
        return NOT_STARTED


async def _demo(settings: Settings, model: str | None, any_port: bool, as_json: bool) -> int:
    output: Print = (lambda _: None) if as_json else print_line
    started = time.monotonic()
    async with (
        demo_site() as (page, findings),
        running(_granted(settings, page), None, any_port) as found,
    ):
        output(f"Deskhand is at {await found.link()}")
        output(f"  the link signs you in once; {time.monotonic() - started:.1f} s to start")
        async with found.client() as client:
            parent, child = await _job(client, model or PARENT, page, found, output)
            result = await _result(client, parent, child, findings, found)
        if as_json:
            print_json(result)
        else:
            _print_result(result, output)
        if os.environ.get("DEMO_EXIT") != "1":
            output("The demo stays up for your browser; Ctrl-C ends it.")
            # Scripts and tests set ``DEMO_EXIT=1``: no browser needs the control plane afterwards.
            await found.server.asked.wait()
    return 0 if result["ok"] else FAILED


def _granted(settings: Settings, page: str) -> Settings:
    # The page is on the loopback interface, which desktops of root do not reach.
    address = page.rpartition("/")[2]
    return replace(settings, egress_grants=(*settings.egress_grants, address))


async def _job(
    client: DesktopClient, model: str, page: str, found: Running, output: Print
) -> tuple[Json, Json]:
    body = {"prompt": TASK.format(url=f"{page}/"), "title": "Demo", "model": model}
    parent_id = (await client.request("POST", "/api/v0/chats", json=body))["id"]
    child: Json = {}
    shown = 0
    # One event stream covers parent and child. It is opened before their state is read, so that no
    # change is missed.
    async with client.lines("/api/v0/events") as lines:
        while True:
            parent = await client.request("GET", f"/api/v0/chats/{parent_id}")
            if parent["children"]:
                fresh = await client.request("GET", f"/api/v0/chats/{parent['children'][0]}")
                if fresh["desktop_id"] and not child.get("desktop_id"):
                    page = f"{found.address.page_url}/desktops/{fresh['desktop_id']}"
                    output(f"Watch it live: {page}")
                    if warning := await _browser_warning(client, fresh["desktop_id"]):
                        output(warning)
                    fresh["browser_warning"] = warning
                fresh.setdefault("browser_warning", child.get("browser_warning", ""))
                child = fresh
                ended = [step for step in child["steps"] if step["ended_at"]]
                for step in ended[shown:]:
                    output(_line(step))
                shown = len(ended)
            if parent["state"] in AT_REST:
                return parent, child
            await _next_event(lines)


async def _browser_warning(client: DesktopClient, desktop_id: str) -> str:
    try:
        return str(
            (await client.request("GET", f"/api/v0/desktops/{desktop_id}"))["browser_warning"]
        )
    except DesktopRefused:
        # The desktop has ended already.
        return ""


async def _next_event(lines: Any) -> None:
    # Any event is a reason to read the state again; comment lines only keep the stream open.
    while (line := await lines.next()) is not None:
        if line.startswith("data:"):
            return


def _line(step: Json) -> str:
    timings = step.get("timings") or {}
    seen = sum(timings.get(f"{name}_ms", 0.0) for name in ("act", "settle", "capture", "encode"))
    whole = 1000 * (step["ended_at"] - step["started_at"])
    settled = f"action -> settled picture {seen:.0f} ms" if seen else f"{whole:.0f} ms"
    title = step.get("title") or step.get("action") or step["tool"]
    failed = f"  FAILED: {step['error']}" if step.get("error") else ""
    return f"  {step['index'] + 1:>3}  {title}  ({settled}){failed}"


async def _result(
    client: DesktopClient, parent: Json, child: Json, findings: Findings, found: Running
) -> Json:
    base = found.address.url
    recording = None
    if child.get("recording_file_ids"):
        run = await client.request("GET", f"/api/v0/runs/{child['id']}")
        video = run["recordings"][0]
        recording = {
            "bytes": video["bytes"],
            "video_s": video["metadata"].get("video_s"),
            "duration_s": video["metadata"].get("duration_s"),
        }
    right = findings.hits == SQUARES and findings.misses == 0 and len(findings.answers) == 1
    return {
        "ok": right and child.get("outcome") == "done" and recording is not None,
        "url": base,
        "token": found.control_plane.token,
        "parent_chat_id": parent["id"],
        "child_chat_id": child.get("id"),
        "report": child.get("report"),
        "parent_report": parent.get("report"),
        "last_error": child.get("last_error") or parent.get("last_error"),
        "recording_file_id": (child.get("recording_file_ids") or [None])[0],
        "thumbnail_file_id": child.get("thumbnail_file_id"),
        "recording": recording,
        "hits": findings.hits,
        "misses": findings.misses,
        "clicks": [click.model_dump() for click in findings.clicks],
        "answers": [answer.model_dump() for answer in findings.answers],
        "run_url": f"{base}/runs/{child['id']}" if child else None,
        "steps": child.get("steps", []),
        "browser_warning": child.get("browser_warning", ""),
    }


def _print_result(result: Json, output: Print) -> None:
    if result["last_error"]:
        output(f"Error: {result['last_error']}")
    output(f"Squares: {result['hits']} hit, {result['misses']} missed")
    output(f"Report: {result['report']}")
    if result["recording"]:
        video = result["recording"]
        output(
            f"Recording {result['recording_file_id']}: {video['video_s']:.1f} s of video for "
            f"{video['duration_s']:.1f} s of work, {video['bytes'] / 1000:.0f} kB"
        )
    if result["run_url"]:
        output(f"Replay it: {result['run_url']}")
