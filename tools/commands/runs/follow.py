"""A run from its start to its end: its progress, its questions and its result."""

import asyncio
import webbrowser
from collections.abc import Awaitable
from contextlib import aclosing
from typing import Any, TypeVar

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.commands.exit_status import DONE, FAILED, NO_MODEL, OVER_BUDGET
from deskhand.tools.commands.http import PlaneConnection
from deskhand.tools.commands.output.table import harmless
from deskhand.tools.commands.terminal import print_error, print_json, print_line

from .changes import changes
from .progress import Progress
from .questions import answered
from .runs import Form, link_of

Json = dict[str, Any]
T = TypeVar("T")


async def follow(
    plane: PlaneConnection,
    chat_id: str,
    timeout: float,
    progress: Progress,
    *,
    watch: bool = False,
) -> Json:
    """Print the progress of a run and have its questions answered; return its result.

    ``watch`` opens the run's page first. If it is cancelled, by the first Ctrl-C, it stops the
    agent; the second one ends the process.
    """
    try:
        if watch:
            await open_page(plane, chat_id)
        progress.line(f"Run:  {await link_of(plane, chat_id)}")
        return await _followed(plane.client, chat_id, timeout, progress)
    except asyncio.CancelledError:
        await stop(plane, chat_id)
        raise


async def open_page(plane: PlaneConnection, chat_id: str) -> None:
    """Open the page of a run in a browser of this machine."""
    link = await link_of(plane, chat_id)
    try:
        await asyncio.to_thread(webbrowser.open, link)
    except webbrowser.Error:
        print_error(f"no browser can be opened here; the page is {link}")


async def stop(plane: PlaneConnection, chat_id: str) -> None:
    """Stop the agent of an interrupted command, and print that it was."""
    # The control plane of this process ends with it, and its agents with that.
    if plane.sign_in is None:
        print_error("stopping the agent; Ctrl-C again exits at once and leaves it working")
        await plane.client.request("POST", f"/api/v0/chats/{chat_id}/interrupt")
        print_error("the agent was stopped")


async def uninterrupted(plane: PlaneConnection, spawning: Awaitable[Json]) -> Json:
    """Wait for the answer to a spawn; if that is interrupted, stop what was spawned.

    The control plane may have started the agent already when its request is cancelled.
    """
    request = asyncio.ensure_future(spawning)
    try:
        return await asyncio.shield(request)
    except asyncio.CancelledError:
        chat_id = ((await request).get("result") or {}).get("chat_id")
        if chat_id:
            await stop(plane, chat_id)
        raise


async def call(client: DesktopClient, tool: str, arguments: Json, timeout: float = 60.0) -> Json:
    """Call one tool of the control plane."""
    response: Json = await client.request(
        "POST", f"/api/v0/tools/{tool}", json=arguments, timeout=timeout
    )
    return response


async def wait(client: DesktopClient, chat_id: str, timeout: float) -> Json:
    """Wait for a subagent; return the result of ``wait_agent``."""
    arguments = {"chat_id": chat_id, "timeout_seconds": int(timeout)}
    # The tool returns at its own timeout with the progress so far, so the request must outlast it.
    response = await call(client, "wait_agent", arguments, timeout + 120.0)
    result: Json = response.get("result") or {
        "status": "error",
        "last_error": response.get("error"),
    }
    return result


async def _followed(
    client: DesktopClient, chat_id: str, timeout: float, progress: Progress
) -> Json:
    with progress:
        showing = asyncio.create_task(_show(client, chat_id, progress), name="progress")
        try:
            return await _result(client, chat_id, timeout, progress)
        finally:
            showing.cancel()
            # Awaiting the cancelled task keeps its last line from following the result.
            await asyncio.gather(showing, return_exceptions=True)


async def _result(client: DesktopClient, chat_id: str, timeout: float, progress: Progress) -> Json:
    """Wait for the end of the run; each question ends one wait, and its answer begins another."""
    result = await wait(client, chat_id, timeout)
    while question := result.get("requires_action"):
        if not await answered(client, chat_id, question, timeout, progress):
            break
        result = await wait(client, chat_id, timeout)
    return result


async def _show(client: DesktopClient, chat_id: str, progress: Progress) -> None:
    try:
        async with aclosing(changes(client, chat_id)) as seen:
            async for chat in seen:
                progress.show(chat)
    except (DesktopRefused, DesktopUnavailable) as error:
        # The progress is only for display: the result does not depend on it.
        progress.line(f"  (progress is not shown: {error})")


async def print_result(result: Json, plane: PlaneConnection, form: Form) -> None:
    """Print the result of a run."""
    if form != "text":
        print_json(result if form == "json" else {"kind": "result", **result})
        return
    if result.get("timed_out"):
        link = await link_of(plane, str(result.get("chat_id")))
        elapsed = result.get("elapsed_ms", 0) / 1000
        print_line(f"Still working after {elapsed:.0f} s; watch: {link}")
        return
    if result.get("requires_action"):
        print_line(f"Not answered: {harmless(str(result['requires_action']['question']))}")
        return
    if result.get("last_error"):
        print_line(f"Error: {harmless(str(result['last_error']))}")
    if result.get("report"):
        print_line(f"Report: {harmless(str(result['report']))}")
    outcome = result.get("outcome") or result.get("status")
    print_line(f"Outcome: {outcome} after {result.get('steps', 0)} steps")
    if result.get("recording_file_id"):
        kept = "; `deskhand up` shows it later" if plane.sign_in else ""
        print_line(f"Recording: {result['recording_file_id']}{kept}")


def exit_code(result: Json) -> int:
    """Return the exit code: 0 done, 1 failed or blocked, 3 budget, 5 model or key."""
    kind = str(result.get("last_error_kind") or "")
    if kind.startswith("model") or kind == "no_model":
        return NO_MODEL
    if kind in ("budget", "timeout", "watchdog") or result.get("timed_out"):
        return OVER_BUDGET
    return DONE if result.get("outcome") == "done" else FAILED
