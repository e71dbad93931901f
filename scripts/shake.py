"""Runs tests many times, in random order and beside busy loops, and names those that ever fail.

Usage: python -m scripts.shake [--base REVISION] [--times 20] [TEST ...]
       python -m scripts.shake --target TARGET [--times 5]

Without ``TEST`` the tests are those that the work tree adds or changes since ``--base``: functions
whose lines differ, and whole files where other lines of a test file do. Changed modules that are no
test files are named, since only a person knows which tests to run for them.

With ``--target`` whole targets of make run. Each round is kept in ``build/shake.jsonl``: a script
that was stopped continues, and a round is not repeated for the same commit.

The order of a round follows from its seed (``--seed`` in tests/conftest.py): files in random order,
and the tests of a file in random order. The exit status is 1 if a test failed in any round.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROUNDS = ROOT / "build" / "shake.jsonl"
BUSY_LOOPS = 2
WORKERS = 4
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+(?:\[.*?\])?)", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def main() -> int:
    """Run the rounds; return the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tests", nargs="*", metavar="TEST", help="files or node ids")
    parser.add_argument("--base", default="", help="revision; by default the upstream branch")
    parser.add_argument("--target", help="target of make, instead of tests")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--quiet", action="store_true", help="without busy loops")
    chosen = parser.parse_args()
    if chosen.target:
        selection, command = chosen.target, ["make", "--no-print-directory", chosen.target]
    else:
        tests = chosen.tests or changed_tests(chosen.base or _upstream())
        if not tests:
            sys.stdout.write("shake: no test differs\n")
            return 0
        selection = " ".join(tests)
        command = [sys.executable, "-m", "pytest", "-q", "-m", "not live"]
        command += [f"--numprocesses={WORKERS}", "--dist=worksteal", *tests]
    sys.stdout.write(f"shake: {chosen.times} rounds of {selection}\n")
    failures: dict[str, list[int]] = {}
    with ExitStack() as stack:
        if not chosen.quiet:
            stack.enter_context(busy_loops(BUSY_LOOPS))
        for seed in range(1, chosen.times + 1):
            for test in _round(selection, seed, command, kept=bool(chosen.target)):
                failures.setdefault(test, []).append(seed)
    for test, seeds in sorted(failures.items()):
        sys.stdout.write(f"FAILED {test}: seeds {', '.join(map(str, seeds))}\n")
    sys.stdout.write(f"shake: {len(failures)} tests failed in {chosen.times} rounds\n")
    return int(bool(failures))


def _round(selection: str, seed: int, command: Sequence[str], *, kept: bool) -> list[str]:
    """Run one round, or read its result; return the tests that failed."""
    key = {"commit": _git("rev-parse", "HEAD").strip(), "selection": selection, "seed": seed}
    if kept and ROUNDS.exists():
        for row in map(json.loads, ROUNDS.read_text().splitlines()):
            if key.items() <= row.items():
                return list(row["failed"])
    started = time.monotonic()
    options = f"{os.environ.get('PYTEST_ADDOPTS', '')} --seed={seed}"
    environment: Mapping[str, str] = {**os.environ, "PYTEST_ADDOPTS": options}
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    failed = FAILED.findall(ended.stdout)
    if ended.returncode != 0 and not failed:
        # Nothing was collected, or pytest itself failed.
        failed = [f"{selection} (exit status {ended.returncode})"]
    seconds = time.monotonic() - started
    verdict = "failed" if failed else "passed"
    sys.stdout.write(f"seed {seed}: {verdict} in {seconds:.0f} s\n")
    sys.stdout.flush()
    ROUNDS.parent.mkdir(exist_ok=True)
    if failed:
        Path(ROUNDS.parent, f"shake-{seed}.log").write_text(ended.stdout + ended.stderr)
    if kept:
        with ROUNDS.open("a") as file:
            file.write(json.dumps({**key, "failed": failed, "seconds": round(seconds)}) + "\n")
    return failed


def changed_tests(base: str) -> list[str]:
    """Return the node ids and files of the tests that differ from a revision."""
    names = _git("diff", "--name-only", "--diff-filter=d", base, "--", "tests").splitlines()
    names += _git("ls-files", "--others", "--exclude-standard", "tests").splitlines()
    found: list[str] = []
    for name in sorted(set(names)):
        path = Path(name)
        if path.suffix != ".py":
            continue
        if not path.match("test_*.py"):
            sys.stdout.write(f"shake: {name} differs, too: name the tests that use it\n")
            continue
        lines = _changed_lines(_git("diff", "--unified=0", base, "--", name))
        source = (ROOT / name).read_text()
        found += [name if test is None else f"{name}::{test}" for test in touched_by(source, lines)]
    return found


def touched_by(source: str, lines: Sequence[int]) -> list[str | None]:
    """Return the test functions at some lines of a file; one None if a line is outside of them.

    Without lines the file is new, and the result is one None, too.
    """
    tests = dict(_tests(ast.parse(source).body))
    at = [[test for test, span in tests.items() if line in span] for line in lines]
    if not at or not all(at):
        return [None]
    touched = {test for each in at for test in each}
    return [test for test in tests if test in touched]


def _tests(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, range]]:
    for one in body:
        if isinstance(one, ast.ClassDef):
            yield from _tests(one.body, f"{prefix}{one.name}::")
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([one.lineno, *(decorator.lineno for decorator in one.decorator_list)])
            if one.name.startswith("test"):
                yield prefix + one.name, range(first, (one.end_lineno or one.lineno) + 1)


def _changed_lines(diff: str) -> list[int]:
    """Return the lines of the new file that a diff without context adds or changes."""
    found: list[int] = []
    for start, count in _HUNK.findall(diff):
        # Lines that were only removed stand between two lines; the one before counts.
        found += range(int(start), int(start) + max(1, int(count or 1)))
    return found


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep processors busy until the block ends."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _upstream() -> str:
    asked = ("git", "rev-parse", "--abbrev-ref", "@{upstream}")
    ended = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return _git("merge-base", "HEAD", ended.stdout.strip() or "HEAD").strip()


def _git(*arguments: str) -> str:
    command = ("git", *arguments)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
