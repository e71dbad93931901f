"""Errors of placing desktops on nodes.

PlacingError
├── BadAnswer            a node's gate has answered with something else than this version expects
├── GateUnreachable      a node's gate does not answer, or is not the node's
├── GateRefused          a node's gate has refused a request
├── CutOff              this placer reaches no node any more
└── RoomsUnavailable     Ray cannot be used
    ├── RayRefused       for good: it has no token, or another one
    └── NoReservation    Ray has not reserved room on a node in time
"""

from deskhand.tools.cluster.errors import ClusterError


class PlacingError(ClusterError):
    """Base of the errors of placing."""


class BadAnswer(PlacingError, ValueError):
    """An answer of a node that none of this version gives."""


class GateUnreachable(PlacingError):
    """A node's gate does not answer in time, or another peer answers in its place."""


class GateUntrusted(GateUnreachable):
    """A gate is there, and TLS has failed, such as after the end of a certificate."""


class GateRefused(PlacingError):
    """A node's gate has refused a request."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(status, code, message)
        self.status = status
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message


class CutOff(PlacingError):
    """This placer reaches no node any more; another one has to look before desktops are lost."""

    def __str__(self) -> str:
        return "no node is reached any more, all since the same moment"


class RoomsUnavailable(PlacingError):
    """Ray cannot be used; the text says why and what to do."""


class RayRefused(RoomsUnavailable):
    """Ray cannot be used before an operator has changed a setting."""


class NoReservation(RoomsUnavailable):
    """Ray has not reserved room on a node in time."""
