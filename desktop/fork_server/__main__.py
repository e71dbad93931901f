"""Entry of the fork server: ``python -P -m deskhand.desktop.fork_server CHANNEL ROOM``.

``ROOM`` is an argument without a meaning: its memory later holds the command lines of desktops.
"""

import os
import sys

from .server import serve

if __name__ == "__main__":
    serve(int(sys.argv[1]))
    # There is nothing left to release that the interpreter's finalization would.
    os._exit(0)
