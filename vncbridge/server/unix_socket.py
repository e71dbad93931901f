"""A listening unix socket that only its user may connect to."""

import os
import socket
from pathlib import Path

_OWN_ONLY = 0o600
_PROBE_SECONDS = 1.0


def bound_path(path: Path, backlog: int) -> socket.socket:
    """Return a socket that listens at a path, in the place of one that a killed process left.

    Raises:
        OSError: If something else is at that path already, or it cannot be created.
    """
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Between bind(2) and chmod(2) the socket exists with the mode of the umask.
    before = os.umask(0o777 & ~_OWN_ONLY)
    try:
        _remove_stale(path)
        bound.bind(str(path))
        # The default ACL of a directory replaces the umask (acl(5)).
        path.chmod(_OWN_ONLY)
        bound.listen(backlog)
    except OSError:
        bound.close()
        raise
    finally:
        os.umask(before)
    return bound


def _remove_stale(path: Path) -> None:
    """Remove a socket without a listener; leave everything else."""
    if not path.is_socket():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_SECONDS)
        try:
            probe.connect(str(path))
        # Every other result, also a timeout, may be a live server whose queue is full.
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
