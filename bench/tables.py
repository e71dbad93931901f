"""Common code of the benchmarks: timing, tables of ratios, and the files of results."""

import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

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
    machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
    load = {"load_1m": round(os.getloadavg()[0], 1)}
    text = json.dumps({"machine": machine | load, **results}, indent=2)
    (RESULTS / f"{name}.json").write_text(text + "\n")
