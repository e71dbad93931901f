"""Probe whether the kernel gives root's desktops namespaces."""

import subprocess
from collections.abc import Sequence

NAMESPACES = ("unshare", "--pid", "--ipc", "--mount", "--mount-proc", "--fork", "/bin/true")
PROBE_SECONDS = 5.0


def namespaces_refused(command: Sequence[str] = NAMESPACES) -> str:
    """Return why no namespaces can be made here, empty if they can. Blocks."""
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if ended.returncode == 0:
        return ""
    return ended.stderr.strip() or f"exit status {ended.returncode}"
