"""Tasks of evaluations for tests, and the command that runs them."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.system.services import DESKHAND

Json = dict[str, Any]

REPORT: Json = {"report": {"summary": "Done.", "outcome": "done", "evidence": [1]}}


def run_commands(*commands: str) -> list[Json]:
    """Return the steps of a script that runs commands and reports."""
    return [{"calls": [{"execute": {"command": command}}]} for command in commands] + [REPORT]


def make_task(folder: Path, name: str, steps: Sequence[Json], **task: Any) -> None:
    """Write a task whose oracle and wrong script have these steps."""
    place = folder / name
    place.mkdir(parents=True)
    script = yaml.safe_dump({"steps": list(steps)})
    (place / "oracle.yaml").write_text(script)
    (place / "wrong.yaml").write_text(script)
    whole = {"name": name, "prompt": "Do it.", "oracle": "oracle.yaml", "wrong": "wrong.yaml"}
    (place / "task.yaml").write_text(yaml.safe_dump({**whole, **task}))


def environment_without_keys() -> dict[str, str]:
    """Return the environment of this process without the keys of providers."""
    names = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
    return {name: value for name, value in os.environ.items() if name not in names}


def evaluate(
    out: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``deskhand eval`` with its results in a folder."""
    return subprocess.run(
        [DESKHAND, "eval", "--out", str(out), *arguments],
        capture_output=True,
        text=True,
        env={**environment_without_keys(), **(environment or {})},
        timeout=1800,
        check=False,
    )


def runs_of(out: Path) -> dict[str, Json]:
    """Return the runs of a result by task."""
    result = json.loads((out / "result.json").read_text())
    return {run["task"]: run for run in result["runs"]}
