"""Bring what a machine says about a process into the form that models read."""

from urllib.parse import quote

from .spec import Json, MachineRefused, MachineUnavailable, ToolContext

MOST_BYTES = 32_768
SNAPSHOT_TIMEOUT = 30.0
"""Seconds for an answer that waits for nothing."""

Unreachable = (MachineRefused, MachineUnavailable)


def newest(output: str) -> str:
    """Return the end of the output that fits, from a whole character on."""
    data = output.encode("utf-8", "replace")
    return data[-MOST_BYTES:].decode("utf-8", "ignore") if len(data) > MOST_BYTES else output


def told(answer: Json) -> Json:
    """Return the fields of an output answer that are the same in every tool's result."""
    running = bool(answer.get("running"))
    code = answer.get("exit_code") or 0
    result: Json = {"success": running or code == 0, "exit_code": code}
    if output := newest(str(answer.get("output") or "")):
        result["output"] = output
    for name in ("signal", "truncated", "command", "canceled"):
        if answer.get(name):
            result[name] = answer[name]
    if running:
        result["running"] = True
    return result


async def waited(context: ToolContext, process_id: str, seconds: float) -> Json:
    """Return the process's output when it has exited, at the latest after ``seconds``."""
    params = {"wait": "true", "timeout_ms": str(int(seconds * 1000))} if seconds > 0 else {}
    return object_of(
        await context.machine.request(
            "GET",
            f"/api/v0/processes/{quote(process_id, safe='')}/output",
            params=params,
            timeout=seconds + SNAPSHOT_TIMEOUT,
        )
    )


async def snapshot(context: ToolContext, process_id: str) -> Json:
    """Return the process's output as it is."""
    return await waited(context, process_id, 0)


def object_of(answer: object) -> Json:
    """Return the machine's answer; MachineUnavailable if it is none of ours."""
    if not isinstance(answer, dict):
        raise MachineUnavailable("the machine's answer is not JSON")
    return answer
