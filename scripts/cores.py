"""Checks that each pure module is covered, branches too, by its own test file alone.

Usage: python -m scripts.cores [MODULE ...]
"""

import importlib
import io
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass
from graphlib import TopologicalSorter
from multiprocessing import get_context
from pathlib import Path

import coverage
import pytest

from tests.layers import VALUES, WORLD
from tests.source_tree import PREFIX, Module, SourceTree

ROOT = Path(__file__).parent.parent

EXCEPTIONS: set[str] = set()
"""Modules that their own tests do not cover yet. One that they do cover must leave this list."""


@dataclass(frozen=True)
class Coverage:
    """How much of a module its own tests ran."""

    name: str
    percent: float
    missing: str
    """Lines and branches that did not run, as ``coverage report`` writes them."""


@dataclass(frozen=True)
class Batch:
    """The result of one process."""

    coverages: tuple[Coverage, ...]
    failures: str
    """Output of pytest, if a test failed."""


class Contexts:
    """Pytest plugin: records each test file, its import included, as a context of its own."""

    def __init__(self, measured: coverage.Coverage) -> None:
        """Switch contexts of ``measured``."""
        self._measured = measured
        self._path = Path()

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> None:
        """Begin the context of a test file before pytest imports it."""
        if isinstance(collector, pytest.Module):
            self._switch(collector.path)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Begin the context of a test file before its first test."""
        self._switch(item.path)

    def _switch(self, path: Path) -> None:
        if path != self._path:
            self._path = path
            self._measured.switch_context(path.relative_to(ROOT).as_posix())


def main(names: Sequence[str]) -> int:
    """Measure the named modules, or all; print what falls short and return the exit code."""
    tree = SourceTree.at(ROOT)
    pure = tree.pure(WORLD)
    wanted = [
        module
        for module in pure
        if (not names or module.name in names) and (ROOT / module.own_tests).exists()
    ]
    workers = os.cpu_count() or 1
    # Large test files take long, so they are dealt out in turn.
    wanted.sort(key=lambda module: (ROOT / module.own_tests).stat().st_size)
    shares = [share for share in (wanted[first::workers] for first in range(workers)) if share]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        batches = list(pool.map(measured, shares))
    coverages = [one for batch in batches for one in batch.coverages]
    problems = [
        *(batch.failures for batch in batches if batch.failures),
        *sorted(shortfalls(coverages, EXCEPTIONS)),
        *unmeasured(pure, EXCEPTIONS),
    ]
    number = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    sys.stdout.write("\n".join([*problems, f"{len(coverages)} pure modules measured, {number}\n"]))
    return 1 if problems or not coverages else 0


def shortfalls(coverages: Iterable[Coverage], exceptions: set[str]) -> Iterator[str]:
    """Return one line for each module that is below 100 %, or at 100 % and still an exception."""
    for one in coverages:
        if one.percent < 100 and one.name not in exceptions:
            yield f"{one.name}: {math.floor(one.percent * 10) / 10} %, missing {one.missing}"
        if one.percent == 100 and one.name in exceptions:
            yield f"{one.name}: 100 %, and still among the exceptions"


def unmeasured(pure: Iterable[Module], exceptions: set[str]) -> Iterator[str]:
    """Return one line for each pure module without own tests, and each exception that is none."""
    names = set()
    for module in pure:
        names.add(module.name)
        if not (ROOT / module.own_tests).exists() and module.needs_own_tests(VALUES):
            yield f"{module.name}: no {module.own_tests}"
    yield from (f"{name}: an exception, but no pure module" for name in exceptions - names)


def measured(modules: Sequence[Module]) -> Batch:
    """Run the own tests of ``modules`` in this process and measure each module by its own."""
    cov = coverage.Coverage(
        data_file=None,
        branch=True,
        config_file=False,
        include=[str(ROOT / module.path) for module in modules],
    )
    output = io.StringIO()
    # Our own plugin would import the package of the installation, before anything is measured.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    cov.start()
    _import_each(cov, SourceTree.at(ROOT), modules)
    files = [str(ROOT / module.own_tests) for module in modules]
    with redirect_stdout(output):
        code = pytest.main(
            ["-q", "--tb=short", "-p", "no:cacheprovider", *files], plugins=[Contexts(cov)]
        )
    cov.stop()
    found = tuple(_coverage(cov, module) for module in modules)
    return Batch(found, output.getvalue() if code else "")


def _import_each(cov: coverage.Coverage, tree: SourceTree, modules: Sequence[Module]) -> None:
    # In order of dependence, so that the import of a module runs that module's own text only:
    # a context then holds nothing that another module's text or tests have run.
    graph: dict[str, set[str]] = {}
    for module in modules:
        reached = {module.name, *tree.reached(module.name)} & tree.graph.keys()
        graph.update({name: tree.graph[name] for name in reached})
    for name in TopologicalSorter(graph).static_order():
        cov.switch_context(f"import {name}")
        importlib.import_module(PREFIX + name)


def _coverage(cov: coverage.Coverage, module: Module) -> Coverage:
    contexts = [f"^{re.escape(one)}$" for one in (f"import {module.name}", module.own_tests)]
    report = io.StringIO()
    percent = cov.report(
        morfs=[str(ROOT / module.path)], contexts=contexts, show_missing=True, file=report
    )
    row = next(line for line in report.getvalue().splitlines() if module.path in line)
    return Coverage(module.name, percent, row.partition("%")[2].strip())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
