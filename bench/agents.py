"""Cost of the history of a run, by the provider's accounting: our loop beside those of others.

Usage: python -m bench.agents

Prints the newest results of the other benchmarks of agents too: the overhead of a step, calls of
one reply, waits and playbooks, which need desktops and minutes (``python -m bench.NAME``).

Each request of a run over a fixed trace (``agent_trace.py``) is counted from its bytes. A token
that is read from the cache counts 0.05, one that is written to it 1.25, one of a summary 5.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import agent_policies, agent_run, page
from bench.agent_policies import BEST_PRACTICES, OURS_THEN
from bench.tables import RESULTS, save

STEPS = (50, 300)
OTHERS = ("agents_overhead", "agents_calls", "waiting", "playbooks")
OURS = "ours: append only, checkpoints at 40 pictures"
OURS_UNBOUND = "ours, thinking not bound: keep 3, batch 8"


def measured(steps: int) -> dict[str, dict[str, float]]:
    """Return the figures of each policy over that many steps."""
    found = {OURS: agent_run.played(steps).figures()}
    unbound = agent_run.played(steps, agent_run.UNBOUND).figures()
    # Thinking of these models is valid after every history.
    found[OURS_UNBOUND] = {**unbound, "thinking_lost": 0}
    for name in agent_policies.POLICIES:
        found[name] = agent_policies.played(name, steps).figures()
    return found


def stored(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and table of each other benchmark of agents that has results in a folder."""
    for name in OTHERS:
        path = folder / f"{name}.json"
        if path.is_file():
            yield name, "\n".join(page.SECTIONS[name](json.loads(path.read_text())))


def main() -> None:
    """Print the table and write the results."""
    results: dict[str, Any] = {}
    for steps in STEPS:
        found = measured(steps)
        then, best = (found[name]["weighted"] for name in (OURS_THEN, BEST_PRACTICES))
        print(f"{steps} steps:")
        for name, figures in found.items():
            print(
                f"  {name:62} share {figures['share']:.3f}  weighted {figures['weighted']:10,.0f}"
                f"  {figures['weighted'] / then:5.2f}x ours at 9714228"
                f"  longest {figures['longest']:8,}  thinking lost {figures['thinking_lost']:3}"
            )
        ours = found[OURS]["weighted"]
        results[f"{steps}_steps"] = {
            "policies": found,
            "ours_by_ours_at_9714228": round(ours / then, 3),
            "ours_by_best_practices": round(ours / best, 3),
        }
    save("agents", {"history": results})
    for title, text in stored(RESULTS):
        print(f"\n{title}:\n{text}")


if __name__ == "__main__":
    main()
