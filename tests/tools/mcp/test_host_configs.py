import json
import tomllib

import pytest

from deskhand.tools.mcp.host_configs import HOSTS, host_config

PROGRAM = "/opt/my tools/deskhand"
OPTIONS = ["--tools", "computer"]


def config(host: str) -> str:
    return host_config(host, PROGRAM, OPTIONS)


def test_claude_code_gets_a_command() -> None:
    command = "claude mcp add deskhand -- '/opt/my tools/deskhand' mcp --tools computer\n"
    assert config("claude-code") == command


def test_codex_gets_toml() -> None:
    server = tomllib.loads(config("codex"))["mcp_servers"]["deskhand"]
    assert (server["command"], server["args"]) == (PROGRAM, ["mcp", *OPTIONS])
    # Codex gives up after this time, and calls are answered within 50 s.
    assert server["tool_timeout_sec"] > 50


@pytest.mark.parametrize(
    ("host", "key"), [("cursor", "mcpServers"), ("vscode", "servers"), ("gemini", "mcpServers")]
)
def test_the_others_get_json_below_the_name_of_its_file(host: str, key: str) -> None:
    comment, _, text = config(host).partition("\n")
    assert comment.startswith("// ")
    server = json.loads(text)[key]["deskhand"]
    assert server == {"command": PROGRAM, "args": ["mcp", *OPTIONS]}


def test_no_setting_contains_a_token() -> None:
    assert not [host for host in HOSTS if "token" in config(host).lower().replace("tools", "")]
    with pytest.raises(KeyError):
        config("nonsense")
