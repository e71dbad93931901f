"""Preparation of the browser at the start of a desktop."""

from collections.abc import Mapping

from deskhand.desktop.errors import NoBrowser
from deskhand.desktop.settings import SandboxMode

from .policy import BrowserLaunch, decide, missing
from .program import find_browser
from .sandbox import unavailable


def prepare(
    wanted: str, setting: SandboxMode, environment: Mapping[str, str], *, uid: int | None = None
) -> BrowserLaunch:
    """Find the browser and probe its sandbox as the present user, or ``uid``. Blocks.

    ``environment`` is that of applications. A missing browser is reported in the result.
    """
    try:
        program = find_browser(wanted, environment.get("PATH"))
    except NoBrowser as error:
        return missing(str(error), setting)
    reason = "" if setting == "off" else unavailable(program, uid=uid)
    return decide(program, setting, reason)
