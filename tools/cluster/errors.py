"""Errors of a cluster.

ClusterError
├── BadMember        a name, a role or an address that no member of a cluster has
├── BadAuthority     a directory that has no authority, or one already; a certificate it has not
├── BadMoment        a line that no control plane has written
├── PeerRefused      the other end of a connection is not who it has to be
└── TicketRefused    a ticket of the live view opens nothing
"""


class ClusterError(Exception):
    """Base of the errors of a cluster."""


class BadMember(ClusterError, ValueError):
    """A name, a role or an address that no member has; the text says which are possible."""


class BadAuthority(ClusterError):
    """The files of a certificate authority are not what a command needs."""


class BadMoment(ClusterError, ValueError):
    """A line between control planes that none of this version has written."""


class PeerRefused(ClusterError):
    """The other end of a connection is not who it has to be; the text is for our log."""


class TicketRefused(ClusterError):
    """A ticket of the live view opens nothing; the text says why."""
