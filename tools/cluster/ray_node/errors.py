"""Errors of Ray's processes.

RayNotUsable    Ray cannot be started on this host as it must be (a ``ClusterError``)
"""

from deskhand.tools.cluster.errors import ClusterError


class RayNotUsable(ClusterError):
    """Ray cannot be started on this host as it must be; the text says what is missing."""
