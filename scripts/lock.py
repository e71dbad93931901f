"""Writes `requirements.lock`: all packages of an installation, each with its hashes.

Usage: python -m scripts.lock

Needs pip-compile (pip-tools) beside the Python that runs it, or on PATH. The file names no
registry: pip takes the packages from the one that it is configured for, and refuses every file
whose hash is not listed.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements.lock"
HEADER = """\
# All packages of an installation with their hashes; python -m scripts.lock writes this file.
# pip install --require-hashes -r requirements.lock && pip install --no-deps .
"""
OPTIONS = (
    *("--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"),
    *("--no-emit-find-links", "--no-emit-trusted-host", "--strip-extras", "--allow-unsafe"),
    *("--quiet", "--resolver=backtracking"),
)


def main() -> int:
    """Resolve the packages anew and write the file; return the exit code."""
    found = Path(sys.executable).with_name("pip-compile")
    program = str(found) if found.exists() else shutil.which("pip-compile")
    if program is None:
        sys.stderr.write("pip-compile is missing: pip install pip-tools\n")
        return 1
    written = subprocess.run(
        [program, *OPTIONS, "--output-file", "-", "pyproject.toml"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if written.returncode:
        return written.returncode
    LOCK.write_text(HEADER + written.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
