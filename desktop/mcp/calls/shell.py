"""The tools of the group shell, as requests to the process routes of a desktop."""

from urllib.parse import quote

from deskhand.desktop.mcp.limits import LONGEST_CALL, LONGEST_WAIT
from deskhand.desktop.mcp.ports import DesktopRequests
from deskhand.desktop.mcp.tool import Json, McpResult

from .tool_results import result_of

MOST_LISTED = "50"

NO_PROMPTS = {
    "DEBIAN_FRONTEND": "noninteractive",
    "EDITOR": "true",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "TERM": "dumb",
}
"""Variables that keep programs from prompting: no person can answer."""


class ShellCalls:
    """Runs commands on one desktop, with arguments as the table reads them."""

    def __init__(self, desktop: DesktopRequests) -> None:
        self._desktop = desktop

    async def execute(self, arguments: Json) -> McpResult:
        """Start a command and wait for its exit, at most as long as hosts wait."""
        background = arguments["run_in_background"]
        wait = min(arguments["timeout"], LONGEST_WAIT)
        body: Json = {
            "command": arguments["command"],
            "workdir": arguments["workdir"],
            "env": NO_PROMPTS,
            "background": background,
        }
        if not background:
            body["timeout_ms"] = int(wait * 1000)
        started = await self._desktop.request("POST", "/api/v0/processes/start", json=body)
        process_id = str(started["id"])
        if background:
            value: Json = {"success": True, "exit_code": 0, "backgrounded": True}
            return result_of("execute", value | {"background_process_id": process_id})
        value = await self._output(process_id, wait)
        if value.get("running"):
            value |= {
                "success": False,
                "exit_code": -1,
                "timed_out": True,
                "background_process_id": process_id,
            }
        return result_of("execute", value)

    async def process_output(self, arguments: Json) -> McpResult:
        """Wait for the exit of a process, and return its output."""
        wait = min(arguments["wait_timeout"], LONGEST_WAIT)
        value = await self._output(arguments["process_id"], wait)
        return result_of("process_output", value)

    async def process_list(self, arguments: Json) -> McpResult:
        """List the processes."""
        value = await self._desktop.request(
            "GET", "/api/v0/processes/list", params={"limit": MOST_LISTED}
        )
        return result_of("process_list", {"processes": value.get("processes") or []})

    async def process_signal(self, arguments: Json) -> McpResult:
        """Send a signal to a process and all that it started."""
        process_id = quote(arguments["process_id"], safe="")
        body = {"signal": arguments["signal"]}
        reply = await self._desktop.request(
            "POST", f"/api/v0/processes/{process_id}/signal", json=body
        )
        value = {"success": True, "message": str(reply.get("message") or "")}
        return result_of("process_signal", value)

    async def _output(self, process_id: str, wait: float) -> Json:
        params = {"newest": "true"}
        if wait:
            params |= {"wait": "true", "timeout_ms": str(int(wait * 1000))}
        reply = await self._desktop.request(
            "GET",
            f"/api/v0/processes/{quote(process_id, safe='')}/output",
            params=params,
            timeout=LONGEST_CALL,
        )
        running = bool(reply.get("running"))
        code = int(reply.get("exit_code") or 0)
        value: Json = {"success": running or code == 0, "exit_code": code}
        value["output"] = str(reply.get("output") or "")
        value |= {name: reply[name] for name in ("signal", "truncated") if reply.get(name)}
        return value | ({"running": True} if running else {})
