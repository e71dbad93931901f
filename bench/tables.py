"""Common code of the benchmarks: timing, tables of ratios, and the files of results."""

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

QUIET = 1.0
"""Load of two cores at which a missed goal counts."""
LOAD_BEFORE = round(os.getloadavg()[0], 1)
"""When this process began."""
RESULTS = Path(__file__).parent / "results"

Times = Mapping[str, float]


def milliseconds(work: Callable[[], Any], repeats: int = 1) -> float:
    """Return the median milliseconds of a function."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        taken.append((time.perf_counter() - started) * 1000)
    return median(taken)


def in_turns(ways: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the median milliseconds of each function.

    They take turns, so that load on the machine affects all of them equally.
    """
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            taken[name].append(milliseconds(way))
    return {name: round(median(values), 3) for name, values in taken.items()}


def show(title: str, times: Times, ours: str) -> None:
    """Print times with their ratios to ours."""
    print(f"{title}:")
    for name, spent in times.items():
        print(f"  {name:34} {spent:10.2f} ms {spent / max(times[ours], 1e-6):8.1f}x")


def save(name: str, results: Mapping[str, Any]) -> None:
    """Write results into a file; the file does not identify the machine."""
    RESULTS.mkdir(exist_ok=True)
    measured = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
    load = {"load_before": LOAD_BEFORE, "load_1m": round(os.getloadavg()[0], 1)}
    text = json.dumps({"machine": machine | load | {"measured": measured}, **results}, indent=2)
    (RESULTS / f"{name}.json").write_text(text + "\n")


def is_quiet() -> bool:
    """Return True if the machine has so little other work that its times count."""
    return LOAD_BEFORE < QUIET


def exit_status(missed: Sequence[str], *, quiet: bool) -> int:
    """Print the goals that were missed; return 1 if that counts.

    The load after a measurement contains its own work, so ``quiet`` is that before it.
    """
    if missed:
        words = "" if quiet else ", but the machine was busy before"
        print(f"missed: {', '.join(missed)}{words}")
    return int(bool(missed) and quiet)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table of Markdown whose first column is text and whose others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
