"""Import budget of the desktop service: what it loads before its first request."""

import json
import subprocess
import sys

MOST = 1132
"""Modules, with those of the interpreter and without those of numpy, whose number depends on its
version; each costs about a millisecond of the start."""

NEVER = {
    *("alembic", "anthropic", "google", "mcp", "openai", "pandas", "rich", "sqlalchemy", "typer"),
    *("uvloop", "playwright", "pytest", "numpy.random", "numpy.testing", "numpy.polynomial"),
}
"""What other parts of Deskhand use, what is loaded by the first MCP call, and rests of numpy."""

LOADED = """
import importlib, json, sys
importlib.import_module(sys.argv[1])
print(json.dumps(sorted(sys.modules)))
"""


def loaded_by(module: str) -> set[str]:
    command = [sys.executable, "-P", "-c", LOADED, module]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(json.loads(shown))


def test_the_service_loads_neither_other_parts_nor_much() -> None:
    loaded = loaded_by("deskhand.desktop.service.process")
    # Earlier versions of numpy load all of it.
    loaded -= {one for one in loaded_by("numpy") if one.partition(".")[0] == "numpy"}
    assert loaded & NEVER == set()
    assert not [one for one in loaded if one.startswith("deskhand.tools")]
    assert len(loaded) <= MOST
