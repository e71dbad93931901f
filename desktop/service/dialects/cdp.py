"""CDP for one desktop: the browser's pipe, subject to its lease and its recordings."""

from functools import partial
from pathlib import Path

from fastapi import APIRouter

from deskhand.desktop.dialects.cdp.api import router
from deskhand.desktop.dialects.cdp.connection import CdpDesktop
from deskhand.desktop.isolation.data_dir import DOWNLOADS
from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.desktop.recordings.step_log import StepLog
from deskhand.desktop.service.parts import CommonParts


class CdpDialect:
    """Implements `Dialect`."""

    def write_files(self, desktop: Path, browser: str) -> None:
        """Write none."""

    def router(self, own_api: OwnApi, common: CommonParts, step_log: StepLog) -> APIRouter:
        """Return the routes."""
        context = common.context
        desktop = CdpDesktop(
            common.lease,
            partial(common.record, step_log=step_log),
            tuple(map(str, context.settings.file_roots)),
            str(context.directory.path / DOWNLOADS),
        )
        return router(own_api, lambda: common.pipes.current, desktop, context.instance)


def loaded() -> CdpDialect:
    """Return the dialect."""
    return CdpDialect()
