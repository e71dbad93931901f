"""Entry of the desktop service, started by the keeper or by init.

The command line is read before the service is loaded, so that a wrong argument is refused within
milliseconds. Then it asks the keeper to prepare the desktop, which happens while the service loads.
"""

import gc
import importlib
import os
import stat
import sys

from .errors import DesktopError
from .isolation.identity import new_identity
from .launch.service_side import service_side
from .settings import parse

MISUSED, NOT_STARTED = 2, 4
"""Exit statuses."""


def main() -> int:
    """Run the service until a signal ends it; return the exit status."""
    settings = parse(sys.argv[1:])
    if settings.until_input_ends and not _input_ends():
        print("deskhand: --until-input-ends: the standard input must be a pipe", file=sys.stderr)  # noqa: T201
        return MISUSED
    try:
        identity = new_identity(settings.folder, os.environ, settings.uid_base)
    except DesktopError as error:
        print(f"deskhand: {error}", file=sys.stderr)  # noqa: T201 - this is a command line
        return NOT_STARTED
    launch = service_side(os.environ)
    if launch is not None:
        launch.ask_to_prepare(identity, settings.profile)
    # Modules stay loaded for good: collecting garbage among them takes a tenth of the start-up
    # time, and gc.freeze() exempts them from every later collection.
    gc.disable()
    process = importlib.import_module("deskhand.desktop.service.process")
    gc.freeze()
    gc.enable()
    status: int = process.run(settings, identity, launch)
    return status


def _input_ends() -> bool:
    """Return whether the standard input is a pipe or a socket, which ends with its writers."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything is closed by now. The interpreter's finalization would take longer than the whole
    # shutdown before this line, and has nothing left to release.
    os._exit(status)
