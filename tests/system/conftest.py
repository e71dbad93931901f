"""Fixtures that the system tests share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.system.browsing import (
    BrowserConnection,
    connected,
    plain_connection,
    running_chromium,
)
from tests.system.services import Service, SharedDesktop, closed, service, tidy, until


@pytest.fixture(scope="session")
def one_desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedDesktop]:
    """The desktop of a worker, of which nothing may stay behind."""
    with SharedDesktop(tmp_path_factory.mktemp("desktop")) as shared:
        yield shared


@pytest.fixture
def desktop(one_desktop: SharedDesktop) -> Iterator[Service]:
    """A desktop service on which nothing goes on, whatever the test before did to it."""
    yield one_desktop.running()
    one_desktop.clear()


@pytest.fixture(scope="session")
def one_speaking_desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with tidy(
        tmp_path_factory.mktemp("dialects") / "errors.log", "--speak", "osworld,cdp"
    ) as found:
        yield found


@pytest.fixture
def speaking_desktop(one_speaking_desktop: Service) -> Iterator[Service]:
    """The desktop of a worker that speaks dialects; no window of the test before is open."""
    yield one_speaking_desktop
    until(lambda: not closed(one_speaking_desktop), "the end of windows")


@pytest.fixture(scope="session")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the Chromium of a worker is; each test opens a context of its own there."""
    with running_chromium(tmp_path_factory.mktemp("chromium")) as address:
        yield address


@pytest.fixture(scope="module")
def connection(chrome: str) -> Iterator[BrowserConnection]:
    """The connection of the tests of one file to the Chromium of their worker."""
    with connected(chrome) as found:
        yield found


@pytest.fixture(scope="module")
def browser(chrome: str) -> Iterator[Browser]:
    """The same for tests without an event loop."""
    with plain_connection(chrome) as found:
        yield found


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The control plane of a worker: what one test makes there, the next ones find."""
    with _plane(tmp_path_factory.mktemp("plane")) as found:
        yield found


@pytest.fixture(scope="module")
def fresh_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A control plane for the tests of one file, on a fresh data directory."""
    with _plane(tmp_path_factory.mktemp("plane")) as found:
        yield found


@contextmanager
def _plane(folder: Path) -> Iterator[Service]:
    data = folder / "data"
    arguments = ("up", "--data-dir", str(data), "--listen", "127.0.0.1:0")
    with service(folder / "errors.log", *arguments) as found:
        yield found
