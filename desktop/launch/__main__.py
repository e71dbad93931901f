"""Entry of the keeper: ``python -S -E .../launch/__main__.py COMMAND...``.

It is started by its path, because without the ``site`` module (-S) and without PYTHONPATH (-E) the
interpreter finds no package.
"""

import importlib
import os
import sys
from pathlib import Path

if __name__ == "__main__":
    # The interpreter puts the folder of the script there, whose modules would hide others.
    sys.path[0] = str(Path(__file__).parents[3])
    keeper = importlib.import_module("deskhand.desktop.launch.keeper")
    # There is nothing left to release that the interpreter's finalization would.
    os._exit(keeper.exit_code(keeper.keep(sys.argv[1:])))
