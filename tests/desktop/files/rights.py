"""Requests to the file routes by a user whom permissions bind."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.desktop.processes.service import LIMIT

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]


def without_rights(asked: list[Json]) -> list[Json]:
    """Return the answers of the file routes in a process that permissions bind."""
    program = [sys.executable, "-B", "-m", "tests.desktop.files.unprivileged"]
    if os.geteuid() == 0:
        # Root stays root, as it may have to read the interpreter, but permissions bind it.
        program = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *program]
    done = subprocess.run(
        program,
        input=json.dumps(asked).encode(),
        capture_output=True,
        cwd=ROOT,
        timeout=LIMIT * 2,
        check=True,
    )
    return list(json.loads(done.stdout))
