"""Absolute paths for those that a tool was given relative to the chat's working directory."""

import posixpath

from .spec import Machine, ToolContext

CONTEXT = "/api/v0/context-config"


async def working_directory(machine: Machine, below: str) -> str:
    """Return the absolute path of a machine's working directory, or of a directory below it."""
    params = {"parts": "false"} | ({"workdir": below} if below else {})
    answer = await machine.request("GET", CONTEXT, params=params)
    return str(answer["working_dir"])


async def absolute_path(path: str, context: ToolContext) -> str:
    """Return the absolute path for a path of a tool call.

    Raises:
        MachineRefused, MachineUnavailable: If the machine does not name its working directory.
    """
    # The machine knows the home of its agent.
    if path.startswith(("/", "~")):
        return path
    folder = await working_directory(context.machine, context.workdir)
    return posixpath.normpath(posixpath.join(folder, path))
