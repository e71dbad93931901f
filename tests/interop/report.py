"""The result of the tests of clients, and the table of clients in docs/clients.md."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

REQUIRED = (
    *("asyncvnc2", "cua-auto-harness", "cua-speedrun", "desktop-env", "mcp"),
    *("openapi-python-client", "playwright", "prometheus-client", "schemathesis"),
)
"""Clients without whose tests the run fails."""

_HEADER = """# Clients that are tested with Deskhand

`make interop` runs these clients against real services and writes this table. A client has a row
when all of its tests passed; that of one which was not installed stays as it was.

The dialect `cua` was removed: cua-sandbox 0.9 left the protocol that it served. Programs of cua use
the dialect `osworld`, or MCP at `/mcp`.

| client | version | Python | how to connect | what was tested | date |
|---|---|---|---|---|---|
"""
_SUITES = """
## Suites of tests

Suites of other makers, which `make interop` or `make full` runs. A row is of the last run that
passed.

| suite | version | what runs | entries | result | date |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class ClientTest:
    """One test of one client."""

    client: str
    how: str
    """How the client connects."""
    tested: str
    """What the test does."""
    version: str
    """Version of the installed client; empty if it is not installed."""
    python: str
    """Version of the Python that runs it; empty for a client that is no Python package."""
    outcome: str
    """``passed``, ``failed`` or ``skipped``."""


@dataclass(frozen=True)
class SuiteRun:
    """A run of a suite of another maker that passed."""

    suite: str
    version: str
    what: str
    """What of the suite runs, and where."""
    entries: int
    result: str


def table(
    tests: Sequence[ClientTest], date: str, earlier: str = "", suites: Iterable[SuiteRun] = ()
) -> str:
    """Return docs/clients.md: one row for each client whose tests all passed, and each suite.

    Clients and suites of the ``earlier`` document that did not run keep their row.
    """
    clients, _, others = earlier.partition(_SUITES)
    runs = _rows(others, 3)
    for run in suites:
        cells = (run.suite, run.version, run.what, str(run.entries), run.result, date)
        runs[f"{run.suite} {run.what}"] = f"| {' | '.join(cells)} |\n"
    rows = _rows(clients, 1)
    for name in sorted({test.client for test in tests}):
        own = [test for test in tests if test.client == name]
        outcomes = {test.outcome for test in own}
        if "failed" in outcomes:
            rows.pop(name, None)
        if outcomes == {"passed"}:
            how, tested = _joined(one.how for one in own), _joined(one.tested for one in own)
            cells = (name, own[0].version, own[0].python or "-", how, tested, date)
            rows[name] = f"| {' | '.join(cells)} |\n"
    parts = ((_HEADER, rows), (_SUITES, runs))
    return "".join(head + "".join(each[name] for name in sorted(each)) for head, each in parts)


def _rows(text: str, cell: int) -> dict[str, str]:
    """Return the rows of a table by their first cell, with another one if it is named too."""
    found = {}
    for row in text.splitlines():
        cells = [one.strip() for one in row.split("|")]
        if len(cells) > cell and cells[1] not in ("client", "suite", "---"):
            found[" ".join(dict.fromkeys((cells[1], cells[cell])))] = f"{row}\n"
    return found


def summary(tests: Sequence[ClientTest]) -> list[str]:
    """Return the lines with the clients installed, and the tests run, passed and skipped."""
    installed = {test.client: test.version for test in tests if test.version}
    outcomes = [test.outcome for test in tests]
    skipped = sorted({test.client for test in tests if test.outcome == "skipped"})
    return [
        f"installed: {', '.join(f'{name} {installed[name]}' for name in sorted(installed))}",
        f"run: {len(outcomes) - outcomes.count('skipped')}, passed: {outcomes.count('passed')}, "
        f"skipped: {outcomes.count('skipped')}" + (f" ({', '.join(skipped)})" if skipped else ""),
    ]


def untested(tests: Sequence[ClientTest], required: Iterable[str] = REQUIRED) -> list[str]:
    """Return the required clients that have a skipped test or none."""
    run = {test.client for test in tests if test.outcome != "skipped"}
    skipped = {test.client for test in tests if test.outcome == "skipped"}
    return [name for name in required if name not in run or name in skipped]


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))
