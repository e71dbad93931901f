"""What all tests share."""

import fcntl
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.cluster.groups import GroupScheduling
from tests.marked_files import may_hold
from tests.postgres_server import ChosenServer, postgres_server
from tests.system import loaded
from tests.work_order import ordered, shares, shuffled

# A shell starts what it runs in the background with this ignored, and so would all our children.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples everywhere, and no word on how long they take: the next machine is slower.
settings.register_profile(
    "deskhand", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("deskhand")


RUNS = {1: "20-39", 2: "40-59", 3: "60-79", 4: "80-99"}
"""Test runs at once on one machine, with the users of the desktops of each."""

AUTHORITY = Path(__file__).parent / "data" / "authority.pem"
"""The only authority that clients accept here, so that none reads the hundred of the system.

That takes each client 40 ms of CPU, and none of them asks a server of the Internet but in `make
live`. The authority has signed nothing, and its key was never kept.
"""

OTHER_MARKERS = Path(__file__).parent / "interop"
"""Folder whose own conftest.py gives its tests their marker."""

_run = ExitStack()

# Collecting makes millions of objects that all stay, so looking for garbage among them is in vain.
gc.disable()


BOTH_DATABASES = (
    *("tests/tools/store/", "tests/tools/agents/", "tests/tools/audit/"),
    *("tests/tools/credentials/", "tests/tools/oidc/", "tests/tools/people/"),
    *("tests/tools/recovery/", "tests/tools/run_list/"),
)
"""Folders whose tests run on PostgreSQL too."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this suite."""
    parser.addoption("--postgresql", action="store_true", help="open stores on PostgreSQL")
    parser.addoption("--seed", type=int, help="run files, and the tests of each, in random order")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file in which no test can have the markers that are asked for."""
    if collection_path.suffix != ".py" or collection_path.is_relative_to(OTHER_MARKERS):
        return None
    found = may_hold(collection_path.read_text(), str(config.getoption("markexpr")))
    return None if found else True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> GroupScheduling | None:
    """Keep groups of tests together where that is asked for."""
    return GroupScheduling(config, log) if config.getoption("dist") == "loadgroup" else None


def pytest_configure(config: pytest.Config) -> None:
    """Keep this run's desktops apart from every other Deskhand's on the machine.

    Workers of pytest-xdist inherit what their parent has chosen.
    """
    if not hasattr(config, "workerinput"):
        if config.getoption("markexpr") != "live":
            os.environ["SSL_CERT_FILE"] = str(AUTHORITY)
        os.environ["DESKHAND_USERS"] = _run.enter_context(_users())
        # Most control planes of the tests start too few desktops to make up for it.
        os.environ.setdefault("DESKHAND_FORK_SERVER", "off")
        # Most tests serve their pages on the host; those of the default set an empty text.
        os.environ.setdefault("DESKHAND_EGRESS", "open")
        os.environ["DESKHAND_RUN_DIR"] = str(_run.enter_context(_run_folder()))
        loaded.start()
    # Each worker has a server of its own.
    if config.getoption("postgresql"):
        ChosenServer.server = _run.enter_context(postgres_server())


def pytest_unconfigure() -> None:
    """Give the users back, and remove what desktops left."""
    _run.close()


@contextmanager
def _users() -> Iterator[str]:
    """Yield a range of users that no other test run has."""
    for number, users in RUNS.items():
        # Held while the file is open, that is until this process ends.
        with Path(tempfile.gettempdir(), f"deskhand-test-run-{number}.lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield users
            return
    # More runs than ranges: a user is still one desktop's alone, by a lock for the whole machine.
    yield "20-99"


@contextmanager
def _run_folder() -> Iterator[Path]:
    # Short, for sockets are in it; others may pass through, as desktops work as other users.
    folder = Path(tempfile.mkdtemp(prefix="deskhand-", dir="/tmp"))
    folder.chmod(0o711)
    try:
        yield folder / "desktops"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def pytest_collection_finish() -> None:
    """Look for garbage again, but only among what the tests make."""
    # Without a last look among the rest, which takes each worker most of a second.
    gc.freeze()
    gc.enable()


SLOW_SECONDS = 5.0 * float(os.environ.get("DESKHAND_TEST_SLOW", "1"))
"""A test that takes longer needs the marker ``slow``, with a reason."""

_long: dict[str, float] = {}


SHARED = ("plane", "chrome", "desktop", "one_desktop")
"""Fixtures of tests/system that each worker starts when it first needs them."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the tests for workers, and refuse a marker ``slow`` without a reason."""
    if ChosenServer.server is not None:
        items[:] = [one for one in items if _runs_on_a_server(one)]
    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT")
    seed = config.getoption("seed")
    if seed is not None:
        items[:] = shuffled(items, lambda item: item.path, seed)
    elif workers is not None:
        items.sort(key=lambda item: shares(_used(item), SHARED))
        items[:] = ordered(items, lambda item: "tests/system/" in item.nodeid, int(workers))
    for item in items:
        for mark in item.iter_markers("slow"):
            if not mark.args:
                raise pytest.UsageError(f"{item.nodeid}: the marker slow needs a reason")


def _runs_on_a_server(item: pytest.Item) -> bool:
    return item.nodeid.startswith(BOTH_DATABASES) and item.get_closest_marker("sqlite") is None


def _used(item: pytest.Item) -> list[str]:
    """Return the fixtures of a test, also those that its parameters name."""
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return [*getattr(item, "fixturenames", ()), *(one for one in values if isinstance(one, str))]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that takes long and has no marker to say why."""
    if report.when == "call" and report.duration > SLOW_SECONDS and "slow" not in report.keywords:
        _long[report.nodeid] = report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that took long without a reason: a warning, for the machine may be busy."""
    for nodeid, seconds in sorted(_long.items(), key=lambda one: -one[1]):
        terminalreporter.write_line(
            f"WARNING: {nodeid} took {seconds:.1f} s; over {SLOW_SECONDS:.0f} s"
            " a test needs the marker slow and a reason",
            yellow=True,
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a report leave its process even when a test logged what UTF-8 cannot hold."""
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report
