"""Conversion of the machine's process state into the result that models read."""

from urllib.parse import quote

from .spec import Json, MachineRefused, MachineUnavailable, ToolContext

MOST_BYTES = 32_768
SNAPSHOT_TIMEOUT = 30.0
"""Timeout in seconds of a request that does not wait for the process."""

Unreachable = (MachineRefused, MachineUnavailable)


def output_tail(output: str) -> str:
    """Return the end of the output, at most ``MOST_BYTES``, cut between two characters."""
    # Errors are ignored on decoding: the cut may fall inside of a character.
    data = output.encode("utf-8", "replace")
    return data[-MOST_BYTES:].decode("utf-8", "ignore") if len(data) > MOST_BYTES else output


def result_fields(response: Json) -> Json:
    """Return the result fields that all process tools have in common."""
    running = bool(response.get("running"))
    # A running process has no exit code yet, and counts as successful so far.
    code = response.get("exit_code") or 0
    result: Json = {"success": running or code == 0, "exit_code": code}
    if output := output_tail(str(response.get("output") or "")):
        result["output"] = output
    for name in ("signal", "truncated", "command", "canceled"):
        if response.get(name):
            result[name] = response[name]
    if running:
        result["running"] = True
    return result


async def wait_output(context: ToolContext, process_id: str, seconds: float) -> Json:
    """Wait for the exit of the process, at most ``seconds``, and return its output."""
    params = {"newest": "true"}
    if seconds > 0:
        params |= {"wait": "true", "timeout_ms": str(int(seconds * 1000))}
    return json_object(
        await context.machine.request(
            "GET",
            # The id comes from a model: quoted, it cannot leave its part of the path.
            f"/api/v0/processes/{quote(process_id, safe='')}/output",
            params=params,
            timeout=seconds + SNAPSHOT_TIMEOUT,
        )
    )


async def read_output(context: ToolContext, process_id: str) -> Json:
    """Return the output up to now, without waiting."""
    return await wait_output(context, process_id, 0)


def json_object(response: object) -> Json:
    """Return the response if it is a JSON object; raise MachineUnavailable otherwise."""
    if not isinstance(response, dict):
        raise MachineUnavailable("the machine's answer is not JSON")
    return response
