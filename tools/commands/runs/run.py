"""`deskhand run`: one task, its progress in the terminal, its result in a folder."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.agents.providers.provider_table import key_variables
from deskhand.tools.commands.control_plane import NoControlPlane
from deskhand.tools.commands.desktop_target import chosen_desktop
from deskhand.tools.commands.exit_status import DONE, INTERRUPTED, NO_MODEL, NOT_STARTED, USAGE
from deskhand.tools.commands.http import PlaneConnection, PlaneSelector, connected, running_plane
from deskhand.tools.commands.terminal import START_ERRORS, print_error, print_json, print_line
from deskhand.tools.commands.terminal import settings as read_settings

from .follow import call, exit_code, follow, open_page, print_result, uninterrupted
from .outputs import save
from .progress import progress_of
from .runs import Form, link_of

FIRST_RUN_KINDS = frozenset({"model_key", "model_credit", "model_unreachable"})
"""Errors whose sentence is all that a newcomer needs."""
LARGEST_FILE = 1_000_000
"""Characters; the control plane accepts no longer content of a file."""

Json = dict[str, Any]


class Interrupted(Exception):
    """The user pressed Ctrl-C."""


class UnreadableFile(Exception):
    """A file for the agent cannot be given to it; the text states the reason."""


@dataclass(frozen=True)
class RunOptions:
    """The options of `deskhand run` beside the arguments of the spawn."""

    where: PlaneSelector = field(default_factory=PlaneSelector)
    timeout: float = 1800.0
    """Seconds to wait for the end of the run."""
    form: Form = "text"
    detach: bool = False
    """True to leave the agent working, and end when it has started."""
    watch: bool = False
    """True to open the run's page in a browser."""
    output: Path | None = None
    """Folder for what came of the run."""
    files: Sequence[Path] = ()
    """Text files that are in the agent's working directory before its first step."""


def main(order: Mapping[str, Any], options: RunOptions) -> int:
    """Run the task; return the exit code for its outcome.

    ``order`` has the task as ``prompt`` and the other arguments of a spawn; ``None`` for those that
    are not given.
    """
    if not (order["prompt"] or "").strip():
        print_error('the task is blank; say what to do, as in: deskhand run "open a terminal"')
        return USAGE
    try:
        given = [_start_file(path) for path in options.files]
        return asyncio.run(_run({**order, "files": given}, options))
    except (KeyboardInterrupt, Interrupted):
        print_error("interrupted")
        return INTERRUPTED
    except UnreadableFile as error:
        print_error(str(error))
        return USAGE
    except (*START_ERRORS, NoControlPlane) as error:
        print_error(str(error))
        return NOT_STARTED


def _start_file(path: Path) -> Json:
    try:
        content = path.read_text("utf-8")
    except OSError as error:
        raise UnreadableFile(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{path} is no text; put it on a desktop with deskhand cp") from error
    if len(content) > LARGEST_FILE:
        raise UnreadableFile(f"{path} has more than {LARGEST_FILE:,} characters")
    return {"path": path.name, "content": content}


async def _run(order: Mapping[str, Any], options: RunOptions) -> int:
    settings = read_settings({"data_dir": options.where.data_dir})
    chosen = settings.model is not None
    if options.detach:
        # A control plane of this command's own would end with it, and the agent too.
        async with running_plane(options.where) as plane:
            return await _work(plane, order, options, chosen=chosen)
    async with connected(settings, options.where.url) as plane:
        try:
            return await _work(plane, order, options, chosen=chosen)
        except (DesktopRefused, DesktopUnavailable):
            # Ctrl-C also ends the control plane of this process, whose requests then fail first.
            if plane.is_ending():
                raise Interrupted from None
            raise


async def _work(
    plane: PlaneConnection, order: Mapping[str, Any], options: RunOptions, *, chosen: bool
) -> int:
    progress = progress_of(options.form)
    played = False
    if order["model"] is None:
        status = await plane.client.request("GET", "/api/v0/status")
        progress.line(_model_line(status, chosen=chosen))
        played = not chosen and _is_example(status)
    if order.get("desktop"):
        await chosen_desktop(plane.client, order["desktop"])
    arguments = {name: value for name, value in order.items() if value or value is False}
    spawning = call(plane.client, "spawn_computer_use_agent", arguments)
    spawned = await uninterrupted(plane, spawning)
    if "error" in spawned:
        print_error(spawned["error"])
        return NO_MODEL
    chat_id = spawned["result"]["chat_id"]
    if options.detach:
        if options.watch:
            await open_page(plane, chat_id)
        return await _detached(plane, chat_id, spawned["result"], options.form)
    result = await follow(plane, chat_id, options.timeout, progress, watch=options.watch)
    if options.output is not None:
        names = await save(plane.client, result, options.output)
        progress.line(f"Saved: {', '.join(str(options.output / name) for name in names)}")
    return await _end(result, plane, options.form, played=played)


async def _detached(plane: PlaneConnection, chat_id: str, spawned: Json, form: Form) -> int:
    if form != "text":
        print_json(spawned)
        return DONE
    print_line(f"Run:  {await link_of(plane, chat_id)}")
    print_line(f"Follow it: deskhand runs logs -f {chat_id}")
    print_line(f"Stop it:   deskhand runs stop {chat_id}")
    return DONE


async def _end(result: Json, plane: PlaneConnection, form: Form, *, played: bool) -> int:
    """Print the result; ``played`` if no model was chosen and a script took its place."""
    kind = result.get("last_error_kind")
    if kind in FIRST_RUN_KINDS and form == "text":
        print_error(str(result["last_error"]))
        return NO_MODEL
    await print_result(result, plane, form)
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
