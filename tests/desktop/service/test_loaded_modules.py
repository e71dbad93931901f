"""Import budget of the desktop service: what it loads before its first request."""

import json
import subprocess
import sys

MOST = 1200
"""Modules, with those of the interpreter; each costs about a millisecond of the start."""

NEVER = {
    *("alembic", "anthropic", "google", "mcp", "openai", "pandas", "rich", "sqlalchemy", "typer"),
    *("uvloop", "playwright", "pytest", "numpy.random", "numpy.testing", "numpy.polynomial"),
}
"""What other parts of Deskhand use, what is loaded by the first MCP call, and rests of numpy."""

LOADED = """
import importlib, json, sys
importlib.import_module("deskhand.desktop.service.process")
print(json.dumps(sorted(sys.modules)))
"""


def test_the_service_loads_neither_other_parts_nor_much() -> None:
    command = [sys.executable, "-P", "-c", LOADED]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    loaded = set(json.loads(shown))
    assert loaded & NEVER == set()
    assert not [one for one in loaded if one.startswith("deskhand.tools")]
    assert len(loaded) <= MOST
