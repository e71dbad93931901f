"""Runs targets of make one after the other, and prints the time of each beside its budget.

Usage: python -m scripts.run_targets landing|release [--write FILE]

The targets and their budgets are those of a table of ``tests/budgets.toml``; targets of one key run
side by side. All of them run, whether or not one before them failed; the exit status is 1 if one
failed, and if ``make test`` ran no test. A budget that is exceeded is printed and is no failure:
times depend on the machine.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUDGETS = ROOT / "tests" / "budgets.toml"
PASSED = re.compile(r"\b[1-9][0-9]* passed\b")
RAN_TESTS = "test"
"""Target that fails also if it has run no test."""


@dataclass(frozen=True)
class Result:
    """The end of one target; times in seconds."""

    target: str
    budget: float
    wall: float
    cpu: float
    """Of all processes that the target has waited for."""
    summary: str
    """Last line of pytest or, without one, the last line of the output."""
    failed: bool

    @property
    def row(self) -> tuple[str, ...]:
        """The columns of the table."""
        verdict = "FAILED" if self.failed else "over" if self.wall > self.budget else "ok"
        times = (f"{self.wall:.0f}", f"{self.budget:.0f}", f"{self.cpu:.0f}")
        return (self.target, *times, verdict, self.summary)


COLUMNS = ("target", "seconds", "budget", "CPU", "", "result")


def main() -> int:
    """Run the targets of a table; return the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("table", choices=sorted(budgets()))
    parser.add_argument("--write", type=Path, help="keep the table as a page of the documentation")
    chosen = parser.parse_args()
    results: list[Result] = []
    for target, budget in budgets()[chosen.table].items():
        sys.stdout.write(f"== make {target}, budget {budget:.0f} s\n")
        results.append(run(target, budget))
        _print(results[-1:])
    sys.stdout.write("\n")
    _print(results)
    if chosen.write:
        chosen.write.write_text(page(results, _commit(), datetime.now(UTC)))
    return int(any(result.failed for result in results))


def budgets() -> dict[str, dict[str, float]]:
    """Return the targets of each table and their budgets in seconds."""
    with BUDGETS.open("rb") as file:
        return tomllib.load(file)


def run(target: str, budget: float) -> Result:
    """Run a target and pass its output on."""
    started, before = time.monotonic(), _cpu()
    last = summary = ""
    with subprocess.Popen(
        ["make", "--no-print-directory", "--jobs", "--output-sync", *target.split()],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            last = line.strip(" =\n") or last
            if PASSED.search(line):
                summary = last
    failed = process.returncode != 0 or (target == RAN_TESTS and not summary)
    wall, cpu = time.monotonic() - started, _cpu() - before
    return Result(target, budget, wall, cpu, summary or last, failed)


def page(results: Iterable[Result], commit: str, now: datetime) -> str:
    """Return the page with the results of a run before a release."""
    lines = [
        "# The last run before a release",
        "",
        f"`make full` of commit {commit} on {now:%Y-%m-%d}, with {os.cpu_count()} processors.",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + " --- |" * len(COLUMNS),
        *("| " + " | ".join(result.row) + " |" for result in results),
    ]
    return "\n".join(lines) + "\n"


def _print(results: Sequence[Result]) -> None:
    total = ("all", f"{sum(one.wall for one in results):.0f}", "", "", "", "")
    rows = [COLUMNS, *(one.row for one in results), *([total] if len(results) > 1 else [])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    sys.stdout.flush()


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _commit() -> str:
    asked = ("git", "rev-parse", "--short", "HEAD")
    return subprocess.run(
        asked, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
