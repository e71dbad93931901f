"""Entry of the launcher: ``python -S -E .../launcher/__main__.py CHANNEL CONFIGURATION``.

It is started by its path, because without the ``site`` module (-S) and without PYTHONPATH (-E) the
interpreter finds no package. It ends when the control plane closes its end of the channel or ends.
"""

import importlib
import os
import sys
from pathlib import Path

if __name__ == "__main__":
    # The interpreter puts the folder of the script there, whose modules would hide others.
    sys.path[0] = str(Path(__file__).parents[3])
    server = importlib.import_module("deskhand.tools.launcher.server")
    server.serve(int(sys.argv[1]), sys.argv[2])
    # The interpreter's finalization would release nothing that is left.
    os._exit(0)
