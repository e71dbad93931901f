"""Command line that starts a control plane as a process of its own. Pure."""

import sys
from collections.abc import Sequence
from pathlib import Path

_MAIN = "from deskhand.tools.cli import main; main()"


def plane_command(data_dir: Path | str | None, arguments: Sequence[str]) -> list[str]:
    """Return the command line; the control plane ends with its standard input, so with us.

    ``-P`` keeps the working directory off the module path, where a foreign ``deskhand`` folder
    may lie. A free port is taken unless ``arguments`` name one.
    """
    where = [] if data_dir is None else ["--data-dir", str(data_dir)]
    return [
        *(sys.executable, "-P", "-c", _MAIN, "up", "--json", "--until-input-ends"),
        *("--listen", "127.0.0.1:0", *where, *arguments),
    ]
