"""Names of tools of servers: ``server__tool``, split at the first ``__``. Pure."""

from .errors import BadToolName

SEPARATOR = "__"
LONGEST_NAME = 64
"""Characters of the name of a server."""


def tool_name(server: str, tool: str) -> str:
    """Return the name under which a tool of a server is offered."""
    return f"{server}{SEPARATOR}{tool}"


def split_name(name: str) -> tuple[str, str]:
    """Return the server and the tool of a name.

    Raises:
        BadToolName: If it is no such name.
    """
    server, separator, tool = name.partition(SEPARATOR)
    if not (server and separator and tool):
        raise BadToolName(f"{name[:100]!r} is not of the form server{SEPARATOR}tool")
    return server, tool


def name_problem(server: str) -> str:
    """Return why a server cannot have this name; empty if it can."""
    if not server or len(server) > LONGEST_NAME:
        return f"a name has 1 to {LONGEST_NAME} characters"
    if SEPARATOR in server or server.startswith("_") or server.endswith("_"):
        return f"a name has no {SEPARATOR} and no _ at its ends"
    if not all(one.isascii() and (one.isalnum() or one in "_-. ") for one in server):
        return "a name has letters, digits, dots, blanks, - and _ only"
    return ""
