"""Arguments of calls, with waits that end before hosts give up."""

from deskhand.desktop.mcp.calls.arguments import number, seconds
from deskhand.desktop.mcp.errors import BadMcpArguments
from deskhand.desktop.mcp.limits import LONGEST_WAIT
from deskhand.desktop.mcp.tool import Json

USUAL_WAIT = 10.0
_WAITS = {"execute": "timeout", "process_output": "wait_timeout"}


def within_limits(name: str, arguments: Json) -> Json:
    """Return the arguments for the tool of a chat; raises ``BadMcpArguments``."""
    if name == "wait_agent":
        return {**arguments, "timeout_seconds": _agent_wait(arguments)}
    if name in _WAITS and not arguments.get("run_in_background"):
        wait = seconds(arguments, _WAITS[name], USUAL_WAIT, LONGEST_WAIT)
        return {**arguments, _WAITS[name]: f"{wait:g}s"}
    if name == "list_agents":
        return {**arguments, "limit": min(number(arguments, "limit") or 10, 50)}
    return arguments


def _agent_wait(arguments: Json) -> float:
    wanted = arguments.get("timeout_seconds")
    if wanted is None:
        return LONGEST_WAIT
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or not wanted >= 0:
        raise BadMcpArguments("timeout_seconds must be a number of seconds")
    return min(float(wanted), LONGEST_WAIT)
