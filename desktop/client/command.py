"""How a desktop service is started as a process of its own."""

import sys
from pathlib import Path


def service_command(*arguments: str) -> list[str]:
    """Return the command line: the keeper over the service, with the service's arguments.

    ``-P`` keeps the working directory off the module path, where a stranger's ``desktop``
    folder might lie; ``-S -E`` keep the keeper small.
    """
    keeper = Path(__file__).parents[1] / "keeper.py"
    return [
        *(sys.executable, "-S", "-E", str(keeper)),
        *(sys.executable, "-P", "-m", "deskhand.desktop", *arguments),
    ]
