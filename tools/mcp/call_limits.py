"""Arguments of calls, with waits that end before hosts give up."""

from deskhand.desktop.fields import Json, outside
from deskhand.desktop.mcp.limits import LONGEST_WAIT

USUAL_AGENTS, MOST_AGENTS = 10, 50
_WAITS = {"execute": "timeout", "process_output": "wait_timeout"}


def within_limits(name: str, arguments: Json, given: Json) -> Json:
    """Return the arguments for the tool of a chat; ``given`` are the same as they were read.

    Raises:
        BadField: For a negative wait, for which the tool of a chat would wait as long as it can.
    """
    if name == "wait_agent":
        named = arguments.get("timeout_seconds") is not None
        wait = min(given["timeout_seconds"], LONGEST_WAIT) if named else LONGEST_WAIT
        if wait < 0:
            raise outside("timeout_seconds", "must be a number of seconds from 0 on")
        return {**arguments, "timeout_seconds": wait}
    if name in _WAITS and not given.get("run_in_background"):
        return {**arguments, _WAITS[name]: f"{min(given[_WAITS[name]], LONGEST_WAIT):g}s"}
    if name == "list_agents":
        return {**arguments, "limit": min(given["limit"] or USUAL_AGENTS, MOST_AGENTS)}
    return arguments
