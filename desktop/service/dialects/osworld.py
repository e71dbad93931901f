"""OSWorld's protocol for one desktop, with the programs of its commands."""

from pathlib import Path

from fastapi import APIRouter

from deskhand.desktop.dialects.osworld.agent_files import FOLDER, OsworldFiles
from deskhand.desktop.dialects.osworld.api import router
from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.desktop.recordings.step_log import StepLog
from deskhand.desktop.service.parts import CommonParts


class OsworldDialect:
    """Implements `Dialect`."""

    def __init__(self, files: OsworldFiles) -> None:
        self._files = files

    def write_files(self, desktop: Path, browser: str) -> None:
        """Write the programs into the directory of the desktop."""
        self._files.write(desktop, browser)

    def router(self, own_api: OwnApi, common: CommonParts, _step_log: StepLog) -> APIRouter:
        """Return the routes."""
        context = common.context
        programs = context.directory.path / FOLDER
        return router(own_api, programs, lan="osworld:lan" in context.settings.speak)


def loaded() -> OsworldDialect:
    """Return the dialect, with its files read."""
    return OsworldDialect(OsworldFiles.read())
