"""What the keeper starts: reads the command line, then loads the service and runs it."""

import gc
import importlib
import os
import sys

from .settings import parse


def main() -> int:
    """Run the service until it is asked to end; return the exit status."""
    settings = parse(sys.argv[1:])
    # All that is loaded stays: to look it through for garbage takes a tenth of the start.
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
    # All is closed. To take the interpreter apart would cost more than all of the end before it.
    os._exit(status)
