"""Run all benchmarks, one process after the other, except the long ones (``soak_*``).

``python -m bench pages`` runs those whose name begins so, and writes ``docs/performance.md``.
"""

import subprocess
import sys
from pathlib import Path

SHARED = {
    "__main__",
    "gym_steps_client",
    "page",
    "page_of_cluster",
    "page_of_pages",
    "page_of_starts",
    "tables",
    "recording_encoders",
    "recording_scenes",
    "recording_ways",
} | {
    "relay_ways",
    "requests_by_schema",
    "agent_policies",
    "agent_run",
    "agent_trace",
}
SHORTER = {
    "recording": ("--seconds", "20"),
    "agents_overhead": ("--steps", "60"),
    "cluster_chats": ("--minutes", "2"),
    "settle_rules": ("--trials", "4", "--only", "a key,textarea"),
}
"""Options of benchmarks that would take long; their results are printed, and not kept."""


def main() -> int:
    """Run the benchmarks whose names begin with the argument; return 1 if one failed."""
    begin = sys.argv[1] if len(sys.argv) > 1 else ""
    root = Path(__file__).parent.parent
    failed = 0
    for script in sorted(Path(__file__).parent.glob(f"{begin}*.py")):
        if script.stem in SHARED or script.stem.startswith("soak_"):
            continue
        print(f"== {script.stem}", flush=True)
        options = SHORTER.get(script.stem, ())
        command = [sys.executable, "-m", f"bench.{script.stem}", *options]
        failed += subprocess.run(command, cwd=root, check=False).returncode != 0
    if begin:
        subprocess.run([sys.executable, "-m", "bench.page"], cwd=root, check=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
