"""Command line that starts a desktop service as a process of its own."""

import sys
from pathlib import Path


def service_command(*arguments: str) -> list[str]:
    """Return the command line: the keeper as parent of the service, with its arguments.

    ``-P`` keeps the working directory off the module path, where a foreign ``deskhand`` folder
    may lie; ``-S -E`` keep the memory of the keeper small.
    """
    keeper = Path(__file__).parents[1] / "launch" / "__main__.py"
    return [
        *(sys.executable, "-S", "-E", str(keeper)),
        *(sys.executable, "-P", "-m", "deskhand.desktop", *arguments),
    ]
