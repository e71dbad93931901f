"""Build the container image and run the demo in it, where a Docker daemon answers.

Usage: python -m scripts.container
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCKERFILE = ROOT / "deploy" / "container" / "Dockerfile"
IMAGE = "deskhand-demo"


def main() -> int:
    """Return the exit status; 0 as well where there is no daemon, which is printed."""
    if not _daemon_answers():
        sys.stdout.write("container: SKIPPED, no Docker daemon answers on this machine\n")
        return 0
    build = ("docker", "build", "--file", str(DOCKERFILE), "--tag", IMAGE, str(ROOT))
    # The demo exits with 0 only if the agent has done its task.
    demo = ("docker", "run", "--rm", "--shm-size=1g", "--env=DEMO_EXIT=1", IMAGE, "demo")
    for command in (build, demo):
        ended = subprocess.run(command, check=False)
        if ended.returncode != 0:
            sys.stderr.write(f"container: {' '.join(command[:2])} failed: {ended.returncode}\n")
            return 1
    return 0


def _daemon_answers() -> bool:
    program = shutil.which("docker")
    if program is None:
        return False
    asked = (program, "version", "--format", "{{.Server.Version}}")
    return subprocess.run(asked, capture_output=True, check=False, timeout=60).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
