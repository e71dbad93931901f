"""Commands that run programs. Pure.

They run in the process core as the agent's user. Standard output and standard error are one stream
there, so that the latter goes to a file without a name and is appended after a mark.
"""

import shlex
from typing import Any

from .arguments import Params, number, text, texts
from .route_call import DESKTOP, Calls, RouteCall, succeeding

PROCESSES = "/api/v0/processes"
LONGEST_WAIT = 240.0
"""Seconds that one call waits for the exit of a process; more calls follow."""
MARK = "\x1edeskhand: standard error\x1e"
"""Divides the output of a command from its standard error."""
_PAGE = "65536"


def run_command(params: Params) -> Calls:
    """Run a command to its end; a command that fails succeeds with its exit code."""
    wanted = params.get("timeout")
    timeout = None if wanted is None else max(number(params, "timeout"), 0)
    process = yield from _started(with_errors_last(text(params, "command")))
    ended = yield from _exited(process, timeout)
    if ended is None:
        yield RouteCall("POST", f"{PROCESSES}/{process}/signal", {"signal": "kill"})
        return {
            "success": False,
            "stdout": "",
            "stderr": f"Command timed out after {timeout:g}s",
            "return_code": -1,
        }
    output, _, errors = (yield from _output(process)).rpartition(MARK)
    return {"stdout": output, "stderr": errors, "return_code": ended}


def with_errors_last(command: str) -> str:
    """Return a script that runs a command and then writes `MARK` and its standard error."""
    return (
        'f=$(mktemp) && exec 3<>"$f" && rm -f "$f" || exit; '
        f"sh -c {shlex.quote(command)} 2>&3 3>&-; c=$?; "
        f"printf %s {shlex.quote(MARK)}; cat /proc/self/fd/3; exit $c"
    )


def open_target(params: Params) -> Calls:
    """Open a file or an address with the application for it."""
    target = text(params, "target")
    kind = "url" if "://" in target else "path"
    if kind == "path":
        target = yield from absolute(target)
    yield from succeeding("POST", f"{DESKTOP}/open", json={kind: target})
    return {}


def set_wallpaper(params: Params) -> Calls:
    """Show a picture behind all windows."""
    path = yield from absolute(text(params, "path"))
    yield from succeeding("PUT", f"{DESKTOP}/wallpaper", params={"path": path})
    return {}


def launch(params: Params) -> Calls:
    """Launch an installed application by its name, or else a program."""
    app = text(params, "app")
    arguments = texts(params, "args") if params.get("args") is not None else []
    reply = yield RouteCall("POST", f"{DESKTOP}/launch", {"name": app, "args": arguments})
    if reply.status == 404:
        body = {"command": shlex.quote(app), "args": arguments}
        reply = yield RouteCall("POST", f"{DESKTOP}/launch", body)
    if reply.status >= 400:
        raise reply.refusal()
    return {"pid": reply.json()["pid"]}


def absolute(path: str) -> Any:
    """Return the absolute path of one that may begin with ``~`` or be relative to the home."""
    if path.startswith("/"):
        return path
    # Without parts it is the home.
    reply = yield from succeeding("POST", "/api/v0/list-directory", json={"path": []})
    home = str(reply.json()["absolute_path_string"])
    rest = path.removeprefix("~").lstrip("/")
    return f"{home}/{rest}".rstrip("/") if rest else home


def _started(command: str) -> Any:
    reply = yield from succeeding("POST", f"{PROCESSES}/start", json={"command": command})
    return reply.json()["id"]


def _exited(process: str, timeout: float | None) -> Any:
    """Return the exit code of a process; None if it runs longer than ``timeout``."""
    left = timeout
    while left is None or left > 0:
        wait = LONGEST_WAIT if left is None else min(left, LONGEST_WAIT)
        params = {"wait_for": "exit", "timeout_ms": str(int(wait * 1000) + 1)}
        reply = yield from succeeding("GET", f"{PROCESSES}/{process}/output", params=params)
        found = reply.json()
        if not found["running"]:
            return int(found.get("exit_code") or 0)
        left = None if left is None else left - wait
    return None


def _output(process: str) -> Any:
    parts, cursor = list[str](), "0"
    while True:
        params = {"cursor": cursor, "limit": _PAGE}
        reply = yield from succeeding("GET", f"{PROCESSES}/{process}/output", params=params)
        found = reply.json()
        parts.append(str(found["output"]))
        cursor = str(found["next_cursor"])
        if not found["has_more"]:
            return "".join(parts)
