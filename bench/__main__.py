"""Run all benchmarks, one process after the other, except the long ones (``soak_*``)."""

import subprocess
import sys
from pathlib import Path

SHARED = {"__main__", "page", "tables", "recording_scenes", "recording_ways", "relay_ways"} | {
    "requests_by_schema",
    "agent_policies",
    "agent_run",
    "agent_trace",
}
SHORTER = {"recording": ("--seconds", "20"), "agents_overhead": ("--steps", "60")}
"""Options with which all benchmarks together take less than five minutes."""


def main() -> int:
    failed = 0
    for script in sorted(Path(__file__).parent.glob("*.py")):
        if script.stem in SHARED or script.stem.startswith("soak_"):
            continue
        print(f"== {script.stem}", flush=True)
        options = SHORTER.get(script.stem, ())
        command = [sys.executable, "-m", f"bench.{script.stem}", *options]
        failed += subprocess.run(command, cwd=script.parent.parent, check=False).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
