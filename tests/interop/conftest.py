"""Skips the clients that are not installed, and reports what was tested with which client."""

import os
from collections.abc import Generator, Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.interop.clients import Clients, clients, version_printed
from tests.interop.report import ClientTest, SuiteRun, summary, table, untested
from tests.system.services import Service, service

# The file that `make interop` writes.
_DOCUMENT = os.environ.get("DESKHAND_INTEROP_REPORT", "")
# The same file, into which `make long` writes the suites alone.
_SUITES_DOCUMENT = os.environ.get("DESKHAND_SUITE_REPORT", "")
_tested = pytest.StashKey[ClientTest]()
_results: list[ClientTest] = []
_suites: list[SuiteRun] = []
CLIENT_TEST = "client test"
"""Name of the property of a report with the fields of a `ClientTest`."""
SUITE_RUN = "suite run"
"""The same of a `SuiteRun`, which a test records."""


@pytest.fixture(scope="session")
def interop(tmp_path_factory: pytest.TempPathFactory) -> Clients:
    """The environment of the clients."""
    return clients(tmp_path_factory.mktemp("clients"))


@pytest.fixture(scope="session")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One desktop service for all clients."""
    errors = tmp_path_factory.mktemp("desktop") / "errors.log"
    with service(errors, "desktop", "--speak", "osworld,cdp") as found:
        yield found


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One control plane for all clients, on a fresh data directory."""
    folder = tmp_path_factory.mktemp("plane")
    arguments = ("up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
    with service(folder / "errors.log", *arguments) as found:
        yield found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test of a client the marker by which `make interop` selects it."""
    for item in items:
        if item.get_closest_marker("interop_client") is not None:
            item.add_marker(pytest.mark.interop)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the test of a client that is not installed."""
    marker = item.get_closest_marker("interop_client")
    if marker is None:
        return
    one = item.stash[_tested] = _client_test(*marker.args, **marker.kwargs)
    if not one.version:
        pytest.skip(f"{one.client} is not installed")


def _client_test(
    client: str, *, how: str, tested: str, version_of: tuple[str, ...] = ()
) -> ClientTest:
    """Read a marker; ``version_of`` prints the version of a client that is no Python package."""
    if version_of:
        return ClientTest(client, how, tested, version_printed(version_of), "", "skipped")
    found = clients()
    version = found.versions().get(client, "")
    return ClientTest(client, how, tested, version, found.python_version, "skipped")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the outcome of the test of a client; an error of a fixture is a failure."""
    report = yield
    if _tested in item.stash:
        one = item.stash[_tested]
        if report.outcome != "passed" or report.when == "call":
            item.stash[_tested] = replace(one, outcome=report.outcome)
        if report.when == "teardown":
            report.user_properties.append((CLIENT_TEST, asdict(item.stash[_tested])))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the outcome, in the process that reports also what its workers run."""
    for name, value in report.user_properties:
        if name == CLIENT_TEST and isinstance(value, dict):
            _results.append(ClientTest(**value))
        if name == SUITE_RUN and isinstance(value, dict) and report.when == "call":
            _suites.extend([SuiteRun(**value)] * report.passed)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was installed, run, passed and skipped, and write the table of clients."""
    if not _results:
        return
    for line in summary(_results):
        terminalreporter.write_line(line)
    if _DOCUMENT or _SUITES_DOCUMENT:
        document = Path(_DOCUMENT or _SUITES_DOCUMENT)
        earlier = document.read_text() if document.exists() else ""
        date, tests = f"{datetime.now(UTC):%Y-%m-%d}", _results if _DOCUMENT else []
        document.write_text(table(tests, date, earlier, _suites))
    if _DOCUMENT and (missing := untested(_results)):
        terminalreporter.write_line(f"NOT TESTED: {', '.join(missing)}", red=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run of `make interop` that did not test a required client."""
    if hasattr(session.config, "workerinput"):
        return
    if _DOCUMENT and untested(_results) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
