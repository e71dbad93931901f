"""cua's protocol for one desktop."""

from pathlib import Path

from fastapi import APIRouter

from deskhand.desktop.dialects.cua.api import router
from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.desktop.recordings.step_log import StepLog
from deskhand.desktop.service.parts import CommonParts


class CuaDialect:
    """Implements `Dialect`."""

    def write_files(self, desktop: Path, browser: str) -> None:
        """Write none."""

    def router(self, own_api: OwnApi, _common: CommonParts, _step_log: StepLog) -> APIRouter:
        """Return the routes."""
        return router(own_api)


def loaded() -> CuaDialect:
    """Return the dialect."""
    return CuaDialect()
