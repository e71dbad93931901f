"""The browser toolset of a desktop, composed."""

from functools import partial

from fastapi import APIRouter

from deskhand.desktop.agent_helper.files import HelperFiles
from deskhand.desktop.network.refused_page import refusal
from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.desktop.pages.api import router
from deskhand.desktop.pages.pages import BrowserPages
from deskhand.desktop.pages.ports import PagesDesktop
from deskhand.desktop.pages.uploads import UploadCopies
from deskhand.desktop.processes.api import once

from .parts import CommonParts, OpenParts


def pages_router(common: CommonParts, parts: OpenParts, own_api: OwnApi) -> APIRouter:
    """Return the route of the browser toolset."""
    context = common.context
    # What the service writes there, all users of the desktop may read.
    folder = context.directory.path / "share" / "uploads"
    desktop = PagesDesktop(
        lambda: common.pipes.current,
        common.lease,
        parts.computer,
        common.redactor,
        partial(refusal, context.network.egress),
        UploadCopies(folder, HelperFiles(common.helper).open, common.disk_refusal),
        lambda: common.workdir,
        tuple(map(str, context.settings.file_roots)),
    )
    return router(BrowserPages(desktop), own_api, once(parts.registry, context.instance))
