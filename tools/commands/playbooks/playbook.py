"""`deskhand playbook`: saving, listing and replaying playbooks; each returns its exit status.

The commands ask the control plane that runs, or one that they start for themselves.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.commands.control_plane import NoControlPlane
from deskhand.tools.commands.exit_status import DONE, FAILED, INTERRUPTED, NOT_STARTED, USAGE
from deskhand.tools.commands.http import PlaneConnection, connected
from deskhand.tools.commands.runs.follow import exit_code, follow, print_result
from deskhand.tools.commands.runs.progress import progress_of
from deskhand.tools.commands.runs.run import Interrupted
from deskhand.tools.commands.runs.runs import Form
from deskhand.tools.commands.terminal import START_ERRORS, print_error, print_json, print_line
from deskhand.tools.commands.terminal import settings as read_settings

Json = dict[str, Any]

PLAYBOOKS = "/api/v0/playbooks"
SPAWN_SECONDS = 60.0
BAD_REQUEST, NOT_FOUND, CONFLICT = 400, 404, 409


def run(
    name: str,
    values: Sequence[str],
    url: str | None,
    data_dir: Path | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Replay a playbook, which is stored first if it is a file; return 0 if its checks passed."""
    given: dict[str, str] = {}
    for one in values:
        key, equals, value = one.partition("=")
        if not equals:
            print_error(f"--set {one}: write NAME=VALUE")
            return USAGE
        given[key] = value

    async def work(plane: PlaneConnection) -> int:
        form: Form = "json" if as_json else "text"
        stored = await _stored(plane, name) if name.endswith(".yaml") else name
        spawned = await plane.client.request(
            "POST", f"{PLAYBOOKS}/{stored}/runs", json={"set": given}, timeout=SPAWN_SECONDS
        )
        result = await follow(plane, spawned["chat_id"], timeout, progress_of(form))
        await print_result(result, plane, form)
        return exit_code(result)

    return _connected(work, url, data_dir)


def save(
    run: str,
    name: str | None,
    replace: bool,
    url: str | None,
    data_dir: Path | None,
    as_json: bool,
) -> int:
    """Save a finished run as a playbook, and print the playbook."""

    async def work(plane: PlaneConnection) -> int:
        body = {"run": run, "replace": replace} | ({"name": name} if name else {})
        saved = await plane.client.request("POST", PLAYBOOKS, json=body, timeout=SPAWN_SECONDS)
        if as_json:
            print_json(saved)
        else:
            print_line(saved["yaml"].rstrip("\n"))
            print_line(f"# Replay it: deskhand playbook run {saved['name']}")
        return DONE

    return _connected(work, url, data_dir)


def listing(url: str | None, data_dir: Path | None, as_json: bool) -> int:
    """Print the stored playbooks."""

    async def work(plane: PlaneConnection) -> int:
        found = await plane.client.request("GET", PLAYBOOKS)
        if as_json:
            print_json(found)
            return DONE
        for one in found["playbooks"]:
            print_line(_line(one))
        if not found["playbooks"]:
            print_error("there are no playbooks")
        return DONE

    return _connected(work, url, data_dir)


def show(name: str, url: str | None, data_dir: Path | None, as_json: bool) -> int:
    """Print the YAML text of a playbook."""

    async def work(plane: PlaneConnection) -> int:
        found = await plane.client.request("GET", f"{PLAYBOOKS}/{name}")
        if as_json:
            print_json(found)
        else:
            print_line(found["yaml"].rstrip("\n"))
        return DONE

    return _connected(work, url, data_dir)


async def _stored(plane: PlaneConnection, file: str) -> str:
    """Store the playbook of a file in place of one of its name; return the name."""
    text = await asyncio.to_thread(Path(file).read_text)
    saved = await plane.client.request("POST", PLAYBOOKS, json={"yaml": text, "replace": True})
    return str(saved["name"])


def _line(one: Json) -> str:
    if one.get("error"):
        return f"{one['name']}  cannot be replayed: {one['error']}"
    names = [
        name if value["default"] is None else f"{name}={value['default']}"
        for name, value in one["parameters"].items()
    ]
    return f"{one['name']}  {one['steps']} steps  {' '.join(names)}".rstrip()


def _connected(
    work: Callable[[PlaneConnection], Awaitable[int]], url: str | None, data_dir: Path | None
) -> int:
    async def connect() -> int:
        settings = read_settings({"data_dir": data_dir})
        async with connected(settings, url) as plane:
            try:
                return await work(plane)
            except (DesktopRefused, DesktopUnavailable) as error:
                if plane.is_ending():
                    raise Interrupted from None
                status = getattr(error, "status", None)
                print_error(str(error))
                return USAGE if status in (BAD_REQUEST, NOT_FOUND, CONFLICT) else FAILED

    try:
        return asyncio.run(connect())
    except (KeyboardInterrupt, Interrupted):
        print_error("interrupted")
        return INTERRUPTED
    except OSError as error:
        print_error(str(error))
        return USAGE
    except (*START_ERRORS, NoControlPlane) as error:
        print_error(str(error))
        return NOT_STARTED
