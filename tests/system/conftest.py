"""What the system tests share."""

from collections.abc import Iterator

import pytest

from tests.system.services import Service, descendants_of, service, until


@pytest.fixture
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A desktop service of the test's own; nothing of it may stay behind."""
    errors = tmp_path_factory.mktemp("desktop") / "errors.log"
    with service(errors, "desktop") as found:
        instance = found.get("/api/v0/desktop")["instance_id"]
        yield found
    until(lambda: not descendants_of(instance), "the end of everything the desktop started")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A control plane for the tests of one file, on a fresh data directory."""
    folder = tmp_path_factory.mktemp("plane")
    data = folder / "data"
    with service(
        folder / "errors.log", "up", "--data-dir", str(data), "--listen", "127.0.0.1:0"
    ) as found:
        yield found
