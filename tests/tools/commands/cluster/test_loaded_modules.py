"""Import budget of the daemon of a node, which has no database and no model."""

import json
import subprocess
import sys

NEVER = {
    *("alembic", "anthropic", "asyncpg", "mcp", "numpy", "openai", "PIL", "ray", "sqlalchemy"),
}

LOADED = """
import importlib, json, sys
importlib.import_module("deskhand.tools.commands.cluster.node")
print(json.dumps(sorted(sys.modules)))
"""


def test_the_daemon_of_a_node_loads_no_database() -> None:
    command = [sys.executable, "-P", "-c", LOADED]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert set(json.loads(shown)) & NEVER == set()
