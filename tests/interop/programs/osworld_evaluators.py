"""Five tasks of OSWorld, judged by its getters and metrics before and after them: `HOST PORT`.

A task is written as in OSWorld's own files. None needs a file of its cloud. Libraries that the
package imports for other evaluators are empty modules.
"""

import logging
import sys
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

PATIENCE = 60.0
PAGE = "<title>Shop</title><button>Pay now</button>"
TASKS: dict[str, dict[str, Any]] = {
    "a command prints what was asked for": {
        "func": "check_include_exclude",
        "result": {"type": "vm_command_line", "command": "cat ~/mode; echo end", "shell": True},
        "expected": {"type": "rule", "rules": {"include": ["dark", "end"], "exclude": ["light"]}},
        "do": "echo dark > ~/mode",
    },
    "a file has the text of the given one": {
        "func": "compare_text_file",
        "result": {"type": "vm_file", "path": "~/note.txt", "dest": "note.txt"},
        "expected": {"type": "cache_file", "path": "gold.txt"},
        "do": "printf 'Grüße\\nto all\\n' > ~/note.txt",
    },
    "pictures were moved into a folder": {
        "func": "check_moved_jpgs",
        "result": {"type": "list_directory", "path": "~/pictures"},
        "expected": {"type": "rule", "rules": {"expected": ["a.jpg", "b.jpg"]}},
        "do": "touch ~/pictures/a.jpg ~/pictures/b.jpg",
    },
    "a button is shown": {
        "func": "check_accessibility_tree",
        "result": {"type": "accessibility_tree"},
        "expected": {
            "type": "rule",
            "rules": [{"xpath": "//push-button[@name='Pay now'] | //button[@name='Pay now']"}],
        },
        "setup": [{"type": "open", "parameters": {"path": "~/page.html"}}],
    },
    "a terminal shows a file": {
        "func": "compare_terminal_and_txt",
        "result": {"type": "vm_file", "path": "~/shown.txt", "dest": "shown.txt"},
        "expected": {"type": "vm_terminal_output"},
        "setup": [
            {
                "type": "execute",
                "parameters": {"command": "printf one > ~/shown.txt", "shell": True},
            },
            {
                "type": "launch",
                "parameters": {
                    "command": ["xterm", "-T", "shown", "-e", "cat ~/shown.txt; sleep 999"]
                },
            },
            {
                "type": "execute_with_verification",
                "parameters": {"command": ["true"], "verification": {"window_exists": "shown"}},
            },
            {"type": "activate_window", "parameters": {"window_name": "shown"}},
        ],
    },
}


def imported(name: str) -> Any:
    """Import a module; each library that is missing becomes an empty one."""
    while True:
        try:
            return import_module(name)
        except ModuleNotFoundError as missing:
            sys.modules[missing.name or ""] = MagicMock()


def score(task: dict[str, Any], env: Any, getters: Any, metrics: Any) -> float:
    """Return what OSWorld's `DesktopEnv.evaluate` does."""
    result, expected = (
        getattr(getters, f"get_{task[name]['type']}")(env, task[name])
        for name in ("result", "expected")
    )
    return float(getattr(metrics, task["func"])(result, expected))


def main(host: str, port: str) -> None:
    """Judge each task before and after it."""
    logging.disable()
    getters, metrics = (
        imported("desktop_env.evaluators.getters"),
        imported("desktop_env.evaluators.metrics"),
    )
    controllers = "desktop_env.controllers"
    controller = imported(f"{controllers}.python").PythonController(host, int(port))
    setup = imported(f"{controllers}.setup").SetupController(host, int(port))
    # A retry hides an error, and takes 5 s.
    controller.retry_times, controller.retry_interval = 1, 0
    cache = Path.cwd()
    (cache / "gold.txt").write_text("Grüße\nto all\n")
    env = SimpleNamespace(
        vm_ip=host, server_port=int(port), controller=controller, cache_dir=str(cache)
    )
    prepared = f"mkdir -p ~/pictures && echo '{PAGE}' > ~/page.html"
    assert controller.run_bash_script(prepared)["returncode"] == 0
    for name, task in TASKS.items():
        before = score(task, env, getters, metrics)
        if script := task.get("do"):
            assert controller.run_bash_script(script)["returncode"] == 0
        setup.setup(task.get("setup", []))
        deadline = time.monotonic() + PATIENCE
        # Applications show what they were asked for when they have started.
        while (after := score(task, env, getters, metrics)) != 1.0 and time.monotonic() < deadline:
            time.sleep(0.2)
        assert (before, after) == (0.0, 1.0), (name, before, after)
        sys.stdout.write(f"\njudged: {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
