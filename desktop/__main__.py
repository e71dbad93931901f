"""Entry of the desktop service, started by the keeper.

The command line is read before the service is loaded, so that a wrong argument is refused within
milliseconds.
"""

import gc
import importlib
import os
import sys

from .settings import parse


def main() -> int:
    """Run the service until a signal ends it; return the exit status."""
    settings = parse(sys.argv[1:])
    # Modules stay loaded for good: collecting garbage among them takes a tenth of the start-up
    # time, and gc.freeze() exempts them from every later collection.
    gc.disable()
    process = importlib.import_module("deskhand.desktop.service.process")
    gc.freeze()
    gc.enable()
    status: int = process.run(settings)
    return status


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything is closed by now. The interpreter's finalization would take longer than the whole
    # shutdown before this line, and has nothing left to release.
    os._exit(status)
