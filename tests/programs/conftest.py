"""One desktop for each level, on which the programs of all tests run."""

import os
from collections.abc import Iterator

import pytest

from tests.programs.editors import EDITORS, Editor, skip_without
from tests.system.services import Service, at_level_shared, tidy


@pytest.fixture(scope="session", params=["user", pytest.param("shared", marks=pytest.mark.full)])
def desktop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """The desktop of a level; what one test starts there, the next ones find."""
    if request.param == "user" and os.geteuid() != 0:
        pytest.skip("only root can start a desktop as another user")
    start = at_level_shared if request.param == "shared" else tidy
    with start(tmp_path_factory.mktemp("desktop") / "errors.log") as found:
        yield found


class Editors:
    """The editors on one desktop, each started when it is first asked for."""

    def __init__(self, desktop: Service) -> None:
        self._desktop = desktop
        self._running: dict[str, Editor] = {}

    def named(self, name: str) -> Editor:
        """Return an editor without text, which has the keyboard."""
        skip_without(EDITORS[name].needs)
        if name not in self._running:
            self._running[name] = Editor(self._desktop, EDITORS[name])
        self._running[name].clear()
        return self._running[name]


@pytest.fixture(scope="session")
def editors(desktop: Service) -> Editors:
    """The editors of all tests of a level."""
    return Editors(desktop)


@pytest.fixture(params=sorted(EDITORS))
def editor(request: pytest.FixtureRequest, editors: Editors) -> Editor:
    """Each editor, without text and with the keyboard."""
    return editors.named(request.param)
