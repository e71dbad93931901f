"""`deskhand run`: one task, its progress in the terminal."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.agents.providers.provider_table import key_variables
from deskhand.tools.commands.control_plane import NoControlPlane
from deskhand.tools.commands.http import PlaneConnection, connected
from deskhand.tools.commands.terminal import (
    START_ERRORS,
    print_error,
    print_json,
    print_line,
    typed_line,
)
from deskhand.tools.commands.terminal import settings as read_settings

DONE, FAILED, USAGE, OVER_BUDGET, NOT_STARTED, NO_MODEL, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

BAD_REQUEST, CONFLICT = 400, 409
FIRST_RUN_KINDS = frozenset({"model_key", "model_credit", "model_unreachable"})
"""Errors whose sentence is all that a newcomer needs."""

Json = dict[str, Any]


class Interrupted(Exception):
    """The user pressed Ctrl-C."""


def main(
    order: Mapping[str, str | None],
    url: str | None,
    data_dir: Path | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Run the task; return the exit code for its outcome.

    ``order`` has the task as ``prompt`` and the other arguments of a spawn; ``None`` for those that
    are not given.
    """
    if not (order["prompt"] or "").strip():
        print_error('the task is blank; say what to do, as in: deskhand run "open a terminal"')
        return USAGE
    try:
        return asyncio.run(_run(order, url, data_dir, timeout, as_json))
    except (KeyboardInterrupt, Interrupted):
        print_error("interrupted")
        return INTERRUPTED
    except (*START_ERRORS, NoControlPlane) as error:
        print_error(str(error))
        return NOT_STARTED


async def _run(
    order: Mapping[str, str | None],
    url: str | None,
    data_dir: Path | None,
    timeout: float,
    as_json: bool,
) -> int:
    settings = read_settings({"data_dir": data_dir})
    async with connected(settings, url) as plane:
        chosen = settings.model is not None
        try:
            return await _work(plane, order, timeout, as_json, chosen=chosen)
        except (DesktopRefused, DesktopUnavailable):
            # Ctrl-C also ends the control plane of this process, whose requests then fail first.
            if plane.is_ending():
                raise Interrupted from None
            raise


async def _work(
    plane: PlaneConnection,
    order: Mapping[str, str | None],
    timeout: float,
    as_json: bool,
    *,
    chosen: bool,
) -> int:
    quiet = (lambda _: None) if as_json else print_line
    played = False
    if order["model"] is None:
        status = await plane.client.request("GET", "/api/v0/status")
        quiet(_model_line(status, chosen=chosen))
        played = not chosen and _is_example(status)
    arguments = {name: value for name, value in order.items() if value}
    spawned = await call(plane.client, "spawn_computer_use_agent", arguments)
    if "error" in spawned:
        print_error(spawned["error"])
        return NO_MODEL
    result = await follow(plane, spawned["result"]["chat_id"], timeout, quiet)
    return _end(result, plane, as_json, played=played)


async def follow(
    plane: PlaneConnection, chat_id: str, timeout: float, quiet: Callable[[str], None]
) -> Json:
    """Print the progress of a run and have its questions answered; return its result."""
    # A browser cannot open a unix socket, so only the id is printed.
    at = "" if plane.url.startswith("unix:") else f"{plane.url}/runs/"
    quiet(f"Run:  {at}{chat_id}")
    if plane.sign_in is not None:
        quiet(f"Sign in: {plane.sign_in}")
    showing = asyncio.create_task(_show(plane.client, chat_id, quiet), name="progress")
    try:
        result = await _result(plane.client, chat_id, timeout, quiet)
    except asyncio.CancelledError:
        # The first Ctrl-C cancels this task (asyncio.run); the second one ends the process at once.
        if plane.sign_in is None:
            print_error("stopping the agent; Ctrl-C again exits at once and leaves it working")
            await plane.client.request("POST", f"/api/v0/chats/{chat_id}/interrupt")
            print_error("the agent was stopped")
        raise
    finally:
        showing.cancel()
        # Awaiting the cancelled task keeps its last line from following the result.
        await asyncio.gather(showing, return_exceptions=True)
    return result


async def _result(client: DesktopClient, chat_id: str, timeout: float, quiet: Any) -> Json:
    """Wait for the end of the run; each question ends one wait, and its answer begins another."""
    result = await wait(client, chat_id, timeout)
    while question := result.get("requires_action"):
        if not await _answered(client, chat_id, question, timeout, quiet):
            break
        result = await wait(client, chat_id, timeout)
    return result


def _end(result: Json, plane: PlaneConnection, as_json: bool, *, played: bool) -> int:
    """Print the result; ``played`` if no model was chosen and a script took its place."""
    kind = result.get("last_error_kind")
    if kind in FIRST_RUN_KINDS and not as_json:
        print_error(str(result["last_error"]))
        return NO_MODEL
    print_result(result, plane, as_json)
    if played:
        print_error(f"not done: no model: set {key_variables()}")
        return NO_MODEL
    return exit_code(result)


def _is_example(status: Json) -> bool:
    return str(status.get("model", "")).startswith("scripted:")


def _model_line(status: Json, *, chosen: bool) -> str:
    name = str(status.get("model", ""))
    if _is_example(status) and not chosen:
        return (
            f"No model key is set, so the example script {name} plays instead of your task's "
            f"model.\nSet {key_variables()} for a real one."
        )
    return f"Model: {name}"


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


async def _answered(
    client: DesktopClient, chat_id: str, question: Json, timeout: float, quiet: Any
) -> bool:
    """Wait for an answer, from this terminal or from the run's page; return whether one came."""
    quiet(f"It asks: {question['question']}")
    prompt = "approve, refuse or always: " if question["kind"] == "approval" else "Answer: "
    typing = asyncio.create_task(typed_line(prompt), name="typed answer")
    elsewhere = asyncio.create_task(_answered_elsewhere(client, chat_id), name="answered elsewhere")
    try:
        done, _ = await asyncio.wait(
            {typing, elsewhere}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )
        if typing in done:
            body = {"answer": typing.result(), "question": question["id"]}
            try:
                await client.request("POST", f"/api/v0/chats/{chat_id}/answer", json=body)
            except DesktopRefused as error:
                # Not a decision, or answered elsewhere: the next wait returns what is open now.
                if error.status not in (BAD_REQUEST, CONFLICT):
                    raise
                quiet(f"  {error}")
        return bool(done)
    finally:
        for task in (typing, elsewhere):
            task.cancel()
        await asyncio.gather(typing, elsewhere, return_exceptions=True)


async def _answered_elsewhere(client: DesktopClient, chat_id: str) -> None:
    async with aclosing(_events(client, chat_id)) as events:
        # Every event is a reason to read the state: an answer may precede the subscription, but
        # the events of the resumed turn follow it.
        async for _ in events:
            chat = await client.request("GET", f"/api/v0/chats/{chat_id}")
            if chat["state"] != "requires_action":
                return


async def _show(client: DesktopClient, chat_id: str, quiet: Any) -> None:
    shown, waited = 0, None
    try:
        async with aclosing(_events(client, chat_id)) as events:
            async for _ in events:
                chat = await client.request("GET", f"/api/v0/chats/{chat_id}")
                ended = [step for step in chat["steps"] if step.get("ended_at")]
                for step in ended[shown:]:
                    quiet(_step_line(step))
                shown = len(ended)
                waiting = chat.get("waiting_for")
                # A question is printed where it is answered.
                if waiting and waiting != waited and waiting["kind"] != "question":
                    quiet(f"  {waiting['text']}")
                waited = waiting
    except (DesktopRefused, DesktopUnavailable) as error:
        # The progress is only for display: the result does not depend on it.
        quiet(f"  (progress is not shown: {error})")


async def _events(client: DesktopClient, chat_id: str) -> AsyncGenerator[str, None]:
    path = f"/api/v0/chats/{chat_id}/events"
    async with client.lines(path) as lines:
        while (line := await lines.next()) is not None:
            if line.startswith("data:"):
                yield line


def _step_line(step: Json) -> str:
    took = 1000 * (step["ended_at"] - step["started_at"])
    mark = "x" if step.get("error") else "-"
    title = step.get("title") or step.get("action") or step.get("tool")
    return f"  {mark} {step['index'] + 1:>3}  {title}  ({took:.0f} ms)"


def print_result(result: Json, plane: PlaneConnection, as_json: bool) -> None:
    """Print the result of a run."""
    if as_json:
        print_json(result)
        return
    if result.get("timed_out"):
        where = result.get("live_url") or f"{plane.url}/runs/{result.get('chat_id')}"
        print_line(
            f"Still working after {result.get('elapsed_ms', 0) / 1000:.0f} s; watch: {where}"
        )
        return
    if result.get("requires_action"):
        print_line(f"Not answered: {result['requires_action']['question']}")
        return
    if result.get("last_error"):
        print_line(f"Error: {result['last_error']}")
    if result.get("report"):
        print_line(f"Report: {result['report']}")
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
    if kind in ("budget", "watchdog") or result.get("timed_out"):
        return OVER_BUDGET
    return DONE if result.get("outcome") == "done" else FAILED
