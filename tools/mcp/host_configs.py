"""Settings of hosts, ready to paste, that start ``deskhand mcp``."""

import json
import shlex
from collections.abc import Callable, Sequence

HOSTS = ("claude-code", "codex", "cursor", "vscode", "gemini")
"""Hosts by the names that ``--print-config`` takes."""


def host_config(host: str, program: str, options: Sequence[str]) -> str:
    """Return the settings for a host: its file in a comment or a command, then the text.

    ``program`` is the path of ``deskhand``, as hosts do not search a virtual environment. Raises
    ``KeyError`` for an unknown host.
    """
    return _CONFIGS[host](program, ["mcp", *options])


def _claude_code(program: str, arguments: Sequence[str]) -> str:
    return f"claude mcp add deskhand -- {shlex.join([program, *arguments])}\n"


def _codex(program: str, arguments: Sequence[str]) -> str:
    # A TOML string in double quotes has the escapes of JSON (TOML 1.0, section String).
    return (
        "# ~/.codex/config.toml\n[mcp_servers.deskhand]\n"
        f"command = {json.dumps(program)}\nargs = {json.dumps(list(arguments))}\n"
        "tool_timeout_sec = 60\n"
    )


def _cursor(program: str, arguments: Sequence[str]) -> str:
    return f"// .cursor/mcp.json\n{_servers('mcpServers', program, arguments)}"


def _vscode(program: str, arguments: Sequence[str]) -> str:
    return f"// .vscode/mcp.json\n{_servers('servers', program, arguments)}"


def _gemini(program: str, arguments: Sequence[str]) -> str:
    return f"// ~/.gemini/settings.json\n{_servers('mcpServers', program, arguments)}"


def _servers(key: str, program: str, arguments: Sequence[str]) -> str:
    server = {"command": program, "args": list(arguments)}
    return json.dumps({key: {"deskhand": server}}, indent=2) + "\n"


_CONFIGS: dict[str, Callable[[str, Sequence[str]], str]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "cursor": _cursor,
    "vscode": _vscode,
    "gemini": _gemini,
}
